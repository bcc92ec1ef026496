/** Lets at most `most` things into memory; callers that have more wait in the order in which they came. */
export type Budget = {
  /** Waits for room for `count` things; more than `most` may enter alone. Its callers bound what waits, as each waits. */
  enter: (count: number) => Promise<void>;
  leave: (count: number) => void;
  used: () => number;
};

export const budget = (most: number): Budget => {
  const waiting: { count: number; enter: () => void }[] = [];
  let used = 0;
  const hasRoom = (count: number): boolean => used === 0 || used + count <= most;
  return {
    used: () => used,
    enter: async (count) => {
      if (waiting.length === 0 && hasRoom(count)) {
        used += count;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, enter: resolve });
      await promise;
    },
    leave: (count) => {
      used -= count;
      for (let next = waiting[0]; next !== undefined && hasRoom(next.count); next = waiting[0]) {
        waiting.shift();
        used += next.count;
        next.enter();
      }
    },
  };
};
