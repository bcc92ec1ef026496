/** How long a lease on a message or a chunk lasts, and how often it is extended while the work goes on. */
export const holdMs = 30_000;
const extendEveryMs = 10_000;

export type HoldDeps = {
  /** Extends the lease; false when another holder has taken over. */
  extend: () => Promise<boolean>;
  /** Aborts when the program is to stop. */
  stopping: AbortSignal;
};

/**
 * Runs long work under a lease that is extended meanwhile. The work is given a signal that aborts when the lease is lost
 * or the program is to stop: it then begins nothing new. A lease that cannot be extended (MongoDB away) counts as lost
 * only when it has run out.
 */
export const holding = async <T>(deps: HoldDeps, work: (halt: AbortSignal) => Promise<T>): Promise<T> => {
  const lost = new AbortController();
  let until = Date.now() + holdMs;
  const extend = async (): Promise<void> => {
    try {
      if (await deps.extend()) until = Date.now() + holdMs;
      else lost.abort();
    } catch {
      if (Date.now() >= until) lost.abort(); // unreachable is not lost, until the lease has run out
    }
  };
  const timer = setInterval(() => void extend(), extendEveryMs);
  try {
    return await work(AbortSignal.any([lost.signal, deps.stopping]));
  } finally {
    clearInterval(timer);
  }
};
