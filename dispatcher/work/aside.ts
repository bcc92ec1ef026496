import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type Aside = ReturnType<typeof aside>;

/**
 * Runs work that mostly waits, beside the places of a worker, which it would keep from others: at most `most` at once. What
 * it works on has a lease, so that it goes on elsewhere when this program is killed.
 */
export const aside = ({ name, most, log }: { name: string; most: number; log: Log }) => {
  const running = new Set<Promise<void>>();
  const part: Part = {
    name,
    start: async () => undefined,
    stop: async () => void (await Promise.all(running)),
  };
  return {
    part,
    /** False when there is no room. `work` handles its failures itself; what it throws is logged. */
    run: (work: () => Promise<void>): boolean => {
      if (running.size >= most) return false;
      const run: Promise<void> = work()
        .catch((err: unknown) => log.error({ err, name }, "aside.failed"))
        .finally(() => running.delete(run));
      running.add(run);
      return true;
    },
  };
};
