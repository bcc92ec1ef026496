/** Runs what no request waits for, up to a load of `most`. */
export const background = ({ most }: { most: number }) => {
  const underWay = new Set<Promise<void>>();
  let load = 0;
  return {
    /**
     * Begins a task, which must not reject, unless too much is under way: then it is left to the timers. A task of no
     * `weight` always begins.
     */
    begin: (task: () => Promise<void>, weight = 1): void => {
      if (weight > 0 && load >= most) return;
      load += weight;
      const running = task().finally(() => {
        load -= weight;
        underWay.delete(running);
      });
      underWay.add(running);
    },

    /** Resolves when all that was begun has ended. */
    ended: async (): Promise<void> => void (await Promise.all(underWay)),
  };
};
