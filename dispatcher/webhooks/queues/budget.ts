export type Budget = ReturnType<typeof budget>;

/** Lets at most `most` things into memory; callers that have more wait in the order in which they came. */
export const budget = (most: number) => {
  const waiting: { count: number; enter: () => void }[] = [];
  let used = 0;
  const hasRoom = (count: number): boolean => used === 0 || used + count <= most;
  return {
    used: (): number => used,
    /** Waits for room for `count` things; more than `most` may enter alone. Its callers bound what waits, as each waits. */
    enter: async (count: number): Promise<void> => {
      if (waiting.length === 0 && hasRoom(count)) {
        used += count;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, enter: resolve });
      await promise;
    },
    leave: (count: number): void => {
      used -= count;
      for (let next = waiting[0]; next !== undefined && hasRoom(next.count); next = waiting[0]) {
        waiting.shift();
        used += next.count;
        next.enter();
      }
    },
  };
};
