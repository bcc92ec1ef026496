import { underWay } from "#core/runtime/batching/under-way.ts";

/** Runs what no request waits for, up to a load of `most`. */
export const background = ({ most }: { most: number }) => {
  const tasks = underWay();
  let load = 0;
  return {
    /**
     * Begins a task, which must not reject, unless too much is under way: then it is left to the timers. A task of no
     * `weight` always begins.
     */
    begin: (task: () => Promise<void>, weight = 1): void => {
      if (weight > 0 && load >= most) return;
      load += weight;
      void tasks.add(task().finally(() => (load -= weight)));
    },

    /** Resolves when all that was begun has ended. */
    ended: tasks.settled,
  };
};
