import type { Clock } from "#core/domain/clock.ts";
import { elapsedFrom, type MonotonicMs } from "#core/runtime/process/elapsed.ts";
import type { DueWork } from "#core/storage/work/due.ts";

/** A lease as the work under it sees it. Both ask the clocks: after a standstill a timer would fire too late. */
export type Lease = {
  /** Whether another process may have taken over by now. */
  isLost: () => boolean;
  /** Whether nothing new is to be begun: it is lost, or the work is to stop. */
  isOver: () => boolean;
};

export type LeaseDeps = {
  /** The document as it was taken. */
  taken: Pick<DueWork, "lease">;
  /** Extends the lease to its full length after `now`; false when another holder has taken over. */
  extend: (now: Date) => Promise<boolean>;
  /** Each aborts when the work is to stop. */
  stops: readonly AbortSignal[];
  clock: Clock;
  /** How long the lease lasts; it is extended after a third of that. */
  termMs: number;
  /** `performance.now()` when left out. */
  monotonicMs?: MonotonicMs;
};

/**
 * Runs long work under a lease that is extended meanwhile. The lease counts from before the request that took or extended
 * it, so that a process that stood still, or whose MongoDB is away, finds out by the clocks that it has run out. A wall
 * clock that is put back meanwhile neither prolongs it here nor shortens it for others, who see the extended instant.
 */
export const underLease = async <T>(deps: LeaseDeps, work: (lease: Lease) => Promise<T>): Promise<T> => {
  const { extend, stops, clock, termMs } = deps;
  const extendEveryMs = termMs / 3;
  const elapsed = () => elapsedFrom(clock, deps.monotonicMs);
  const [begunMs, sinceBegun] = [clock.now().getTime(), elapsed()];
  let leftMs = Math.min((deps.taken.lease?.until.getTime() ?? 0) - begunMs, termMs);
  let gone = sinceBegun;
  let isTaken = false;
  let isExtending = false;

  const extendNow = async (): Promise<void> => {
    if (isExtending) return; // of two writes under way the older one could be made last
    isExtending = true;
    const before = elapsed();
    try {
      if (await extend(new Date(begunMs + sinceBegun()))) [gone, leftMs] = [before, termMs];
      else isTaken = true;
    } catch {
      // the store is unreachable: the lease is ours until it has run out
    } finally {
      isExtending = false;
    }
  };
  const isLost = (): boolean => isTaken || gone() >= leftMs;
  const isOver = (): boolean => isLost() || stops.some(({ aborted }) => aborted);

  if (leftMs < termMs - extendEveryMs) void extendNow(); // much of it is gone already
  const timer = setInterval(() => void extendNow(), extendEveryMs);
  try {
    return await work({ isLost, isOver });
  } finally {
    clearInterval(timer);
  }
};
