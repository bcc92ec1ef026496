import type { Clock } from "#core/domain/clock.ts";
import type { DueWork } from "#core/storage/work/due.ts";

/** How long a lease on a message, a chunk or a job lasts; after a third of that it is extended. */
export const leaseMs = 30_000;

/** A lease as the work under it sees it. Both ask the clock: after a standstill a timer would fire too late. */
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
  /** Another length of the lease, for tests. */
  termMs?: number;
};

/**
 * Runs long work under a lease that is extended meanwhile. The lease counts from before the request that took or extended
 * it, so that a process that stood still, or whose MongoDB is away, finds out by the clock that it has run out.
 */
export const underLease = async <T>(deps: LeaseDeps, work: (lease: Lease) => Promise<T>): Promise<T> => {
  const { extend, stops, clock, termMs = leaseMs } = deps;
  const extendEveryMs = termMs / 3;
  let untilMs = deps.taken.lease?.until.getTime() ?? 0;
  let isTaken = false;
  let isExtending = false;

  const extendNow = async (): Promise<void> => {
    if (isExtending) return; // of two writes under way the older one could be made last
    isExtending = true;
    const now = clock.now();
    try {
      if (await extend(now)) untilMs = now.getTime() + termMs;
      else isTaken = true;
    } catch {
      // the store is unreachable: the lease is ours until it has run out
    } finally {
      isExtending = false;
    }
  };
  const isLost = (): boolean => isTaken || clock.now().getTime() >= untilMs;
  const isOver = (): boolean => isLost() || stops.some(({ aborted }) => aborted);

  if (untilMs - clock.now().getTime() < termMs - extendEveryMs) void extendNow(); // much of it is gone already
  const timer = setInterval(() => void extendNow(), extendEveryMs);
  try {
    return await work({ isLost, isOver });
  } finally {
    clearInterval(timer);
  }
};
