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
  removeOldest: (plan: string, before: Date) => Promise<Removed>;
  /** Those of a page of the apps behind an id that keep messages for a shorter time; `last`: null behind all apps. */
  appsAfter: (id: string) => Promise<{ apps: { appId: string; days: number }[]; last: string | null }>;
  removeOldestOf: (appId: string, before: Date) => Promise<Removed>;
  /** Whether this process is the one that purges now. */
  isOurs: () => Promise<boolean>;
  /** Counts a plan, or an app, that could not be purged. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

type Removed = { removed: number; isMore: boolean };

/** Removes messages and their deliveries once their plan, or their app, keeps them no longer: a pass each hour, in one process. */
export const purge = (deps: PurgeDeps): Part =>
  passes({
    name: "purge",
    everyMs: 3_600_000,
    failedMs: 600_000,
    pass: (stop) => pass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "purge.failed"),
  });

/**
 * One pass over every plan, and every app that keeps less; stops between pages when the program does. The others go on
 * when one fails; false when one did.
 */
export const pass = async (deps: PurgeDeps, stop: AbortSignal): Promise<boolean> => {
  if (!(await deps.isOurs())) return true;
  let isDone = true;
  for (const { plan, days } of await kept(deps))
    isDone = (await purgeOf(deps, { plan, days }, (before) => deps.removeOldest(plan, before), stop)) && isDone;
  for (let after: string | null = ""; after !== null && !stop.aborted && (await deps.isOurs()); ) {
    const { apps, last } = await deps.appsAfter(after);
    for (const { appId, days } of apps)
      isDone =
        (await purgeOf(deps, { app: appId, days }, (before) => deps.removeOldestOf(appId, before), stop)) && isDone;
    after = last;
  }
  return isDone;
};

type Whose = { plan: string; days: number } | { app: string; days: number };

/** Removes what is older than one plan or app keeps; false when that failed. */
const purgeOf = async (
  deps: PurgeDeps,
  { days, ...whose }: Whose,
  removeOldest: (before: Date) => Promise<Removed>,
  stop: AbortSignal,
): Promise<boolean> => {
  const before = new Date(deps.clock.now().getTime() - days * dayMs);
  let messages = 0;
  try {
    for (let isMore = true; isMore && !stop.aborted && (await deps.isOurs()); ) {
      const page = await removeOldest(before);
      messages += page.removed;
      isMore = page.isMore;
    }
  } catch (err) {
    if (isPassing(err)) throw err;
    deps.log.error({ ...whose, err }, "purge.set_aside");
    deps.setAside();
    return false;
  }
  if (messages > 0) deps.log.info({ ...whose, messages, before }, "purge.done");
  return true;
};

/** How long each plan's messages are kept: those of a plan that is gone as long as any plan keeps its own. */
const kept = async ({ plans, planNames }: PurgeDeps): Promise<{ plan: string; days: number }[]> => {
  const known = new Map((await plans()).map(({ _id, retention_days: days }) => [_id, days]));
  if (known.size === 0) return []; // no plan says how long to keep anything
  const longest = Math.max(...known.values());
  const gone = (await planNames()).filter((name) => !known.has(name));
  return [...known, ...gone.map((name) => [name, longest] as const)].map(([plan, days]) => ({ plan, days }));
};
