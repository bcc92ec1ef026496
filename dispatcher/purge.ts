import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { Log } from "#core/runtime/log.ts";
import type { PlanRow } from "#core/storage/plans.ts";

export type PurgeDeps = {
  plans: () => Promise<Pick<PlanRow, "_id" | "retention_days">[]>;
  /** The plans that messages were accepted under, also those that are gone. */
  planNames: () => Promise<string[]>;
  removeOldest: (plan: string, before: Date) => Promise<{ removed: number; isFull: boolean }>;
  /** Whether this process is the one that purges now. */
  isOurs: () => Promise<boolean>;
  clock: Clock;
  log: Log;
};

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Removes messages and their deliveries once their plan keeps them no longer: a pass each hour, in one process. */
export const purge = (deps: PurgeDeps): Part => {
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass(deps, stopping.signal).catch((err: unknown) => deps.log.warn({ err }, "purge.failed"));
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  return {
    name: "purge",
    start: async () => {
      loop = run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
};

/** One pass over every plan; stops between pages when the program does. */
export const pass = async (deps: PurgeDeps, stop: AbortSignal): Promise<void> => {
  if (!(await deps.isOurs())) return;
  for (const { plan, days } of await kept(deps)) {
    const before = new Date(deps.clock.now().getTime() - days * dayMs);
    let messages = 0;
    let isFull = true;
    while (isFull && !stop.aborted && (await deps.isOurs())) {
      const page = await deps.removeOldest(plan, before);
      messages += page.removed;
      isFull = page.isFull;
    }
    if (messages > 0) deps.log.info({ plan, messages, before }, "purge.done");
  }
};

/** How long each plan's messages are kept: those of a plan that is gone as long as any plan keeps its own. */
const kept = async ({ plans, planNames }: PurgeDeps): Promise<{ plan: string; days: number }[]> => {
  const known = new Map((await plans()).map(({ _id, retention_days: days }) => [_id, days]));
  if (known.size === 0) return []; // nothing says how long
  const longest = Math.max(...known.values());
  const gone = (await planNames()).filter((name) => !known.has(name));
  return [...known, ...gone.map((name) => [name, longest] as const)].map(([plan, days]) => ({ plan, days }));
};
