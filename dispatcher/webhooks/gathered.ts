/** Stores results in batches that form by themselves: while one write is under way, the next results gather. */
export const gathered = <T>(store: (batch: readonly T[]) => Promise<unknown>) => {
  let waiting: T[] = []; // bounded by the batch of work that it gathers from
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) await store(batch);
  };
  return {
    add: (result: T): void => {
      waiting.push(result);
      if (waiting.length > 1) return; // a write that takes it is queued already
      writing = writing.then(write);
      writing.catch(() => {}); // told by `flushed`
    },
    /** Resolves when all is stored. Rejects with the first error; nothing is stored after it. */
    flushed: (): Promise<void> => writing,
  };
};
