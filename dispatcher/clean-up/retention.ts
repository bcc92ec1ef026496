import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";

export type PurgeDeps = {
  plans: () => Promise<Pick<PlanRow, "_id" | "retention_days">[]>;
  /** The plans that messages were accepted under, also those that are gone. */
  planNames: () => Promise<string[]>;
  removeOldest: (plan: string, before: Date) => Promise<{ removed: number; isMore: boolean }>;
  /** Whether this process is the one that purges now. */
  isOurs: () => Promise<boolean>;
  /** Counts a plan that could not be purged. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

/** Removes messages and their deliveries once their plan keeps them no longer: a pass each hour, in one process. */
export const purge = (deps: PurgeDeps): Part =>
  passes({
    name: "purge",
    everyMs: 3_600_000,
    failedMs: 600_000,
    pass: (stop) => pass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "purge.failed"),
  });

/**
 * One pass over every plan; stops between pages when the program does. The others go on when a plan fails; false
 * when one did.
 */
export const pass = async (deps: PurgeDeps, stop: AbortSignal): Promise<boolean> => {
  if (!(await deps.isOurs())) return true;
  let isDone = true;
  for (const { plan, days } of await kept(deps)) {
    const before = new Date(deps.clock.now().getTime() - days * dayMs);
    await purgePlan(deps, { plan, before }, stop).catch((err: unknown) => {
      if (isPassing(err)) throw err;
      deps.log.error({ plan, err }, "purge.set_aside");
      deps.setAside();
      isDone = false;
    });
  }
  return isDone;
};

const purgePlan = async (
  deps: PurgeDeps,
  { plan, before }: { plan: string; before: Date },
  stop: AbortSignal,
): Promise<void> => {
  let messages = 0;
  let isMore = true;
  while (isMore && !stop.aborted && (await deps.isOurs())) {
    const page = await deps.removeOldest(plan, before);
    messages += page.removed;
    isMore = page.isMore;
  }
  if (messages > 0) deps.log.info({ plan, messages, before }, "purge.done");
};

/** How long each plan's messages are kept: those of a plan that is gone as long as any plan keeps its own. */
const kept = async ({ plans, planNames }: PurgeDeps): Promise<{ plan: string; days: number }[]> => {
  const known = new Map((await plans()).map(({ _id, retention_days: days }) => [_id, days]));
  if (known.size === 0) return []; // no plan says how long to keep anything
  const longest = Math.max(...known.values());
  const gone = (await planNames()).filter((name) => !known.has(name));
  return [...known, ...gone.map((name) => [name, longest] as const)].map(([plan, days]) => ({ plan, days }));
};
