/**
 * Lets at most `places` ≥ 1 holders in at a time; the others wait in order of coming. Its queue is bounded by its
 * callers, who each wait.
 */
export const semaphore = (places: number) => {
  let free = places;
  const waiting = new Set<() => void>();

  /** Takes a place if one is free, for which no promise is made; true must be followed by one `release`. */
  const tryAcquire = (): boolean => {
    if (free === 0) return false;
    free--;
    return true;
  };
  /** Waits for a place; every call that resolves must be followed by one `release`. */
  const acquire = async (signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    if (!tryAcquire()) await enqueue(waiting, signal);
  };
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) free++;
    else next(); // the place goes straight to the longest waiting
  };
  /** Waits for a place and keeps it while `fn` runs. Rejects without running it when `signal` aborts first. */
  const run = async <T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    signal?.throwIfAborted();
    if (!tryAcquire()) await enqueue(waiting, signal);
    try {
      return await fn();
    } finally {
      release();
    }
  };
  return { run, tryAcquire, acquire, release };
};

const enqueue = (waiting: Set<() => void>, signal?: AbortSignal): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const enter = (): void => {
    waiting.delete(enter);
    signal?.removeEventListener("abort", leave);
    resolve();
  };
  const leave = (): void => {
    waiting.delete(enter);
    reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
  };
  waiting.add(enter);
  signal?.addEventListener("abort", leave, { once: true });
  return promise;
};

/**
 * `Promise.all` over a list with at most `limit` calls under way; results in the list's order. The first failure or
 * abort starts no further calls and rejects once those under way have settled.
 */
export const mapBounded = async <T, R>(
  items: readonly T[],
  limit: number,
  fn: (item: T, signal?: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  let failure: { error: unknown } | null = null;
  const work = async (): Promise<void> => {
    while (next < items.length && failure === null) {
      const index = next++;
      try {
        signal?.throwIfAborted();
        results[index] = await fn(items[index] as T, signal); // sound: index is below length
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failure !== null) throw (failure as { error: unknown }).error; // sound: set above, in a closure
  return results;
};
