import type { Clock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { OnPage } from "#core/storage/mongo/pages.ts";
import type { NamedLease } from "#core/storage/work/leases.ts";

export type CapRemovalDeps = {
  removeExpired: (now: Date, onPage: OnPage) => Promise<void>;
  /** It is kept until its end, a day: who has it looks through all of them once. */
  day: Pick<NamedLease, "take" | "release">;
  clock: Clock;
  log: Log;
};

/** How long one look through all of them lasts for the whole installation. */
export const capRemovalMs = 86_400_000;

/**
 * Removes what frequency caps have counted once no cap counts it any more: each day, in one process. It looks through all
 * documents, as an index of their ends would cost every send more than this. Source: docs/decisions/0118.
 */
export const capRemoval = (deps: CapRemovalDeps): Part =>
  passes({
    name: "cap removal",
    everyMs: 3_600_000,
    failedMs: 600_000,
    pass: (stop) => pass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "cap_removal.failed"),
  });

/** One look, where nobody had one in the last day; one that ends early is begun anew by the next pass. */
export const pass = async ({ removeExpired, day, clock, log }: CapRemovalDeps, stop: AbortSignal): Promise<void> => {
  if ((await day.take()) === null) return;
  let removed = 0;
  try {
    await removeExpired(clock.now(), (documents) => {
      removed += documents;
      stop.throwIfAborted();
    });
  } catch (error) {
    await day.release();
    if (!stop.aborted) throw error;
  } finally {
    if (removed > 0) log.info({ people: removed }, "cap_removal.done");
  }
};
