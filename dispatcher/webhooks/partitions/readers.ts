import type { Part } from "#core/runtime/process/lifecycle.ts";

/** Reads the events of the partitions that this process owns. */
export type Readers = Part & {
  /** Begins to read those of a partition, unless it is read. */
  begin: (partition: number) => void;
  /** Ends that; resolves when what is in hand is stored. */
  end: (partition: number) => Promise<void>;
};

/** `make`: what reads one partition. */
export const readers = (make: (partition: number) => Part): Readers => {
  const reading = new Map<number, Part>();
  const ending = new Set<Promise<void>>();
  const over = new AbortController();
  const end = async (partition: number): Promise<void> => {
    const reader = reading.get(partition);
    reading.delete(partition);
    const ended = reader?.stop(over.signal) ?? Promise.resolve();
    ending.add(ended);
    await ended.finally(() => ending.delete(ended));
  };
  return {
    name: "webhook events",
    begin: (partition) => {
      if (reading.has(partition) || over.signal.aborted) return;
      const reader = make(partition);
      reading.set(partition, reader);
      void reader.start(over.signal);
    },
    end,
    start: () => Promise.resolve(),
    stop: async (graceIsOver) => {
      graceIsOver.addEventListener("abort", () => over.abort(graceIsOver.reason), { once: true });
      if (graceIsOver.aborted) over.abort(graceIsOver.reason);
      for (const partition of reading.keys()) void end(partition);
      await Promise.all(ending);
    },
  };
};
