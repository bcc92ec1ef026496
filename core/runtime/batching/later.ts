export type LaterOptions<T> = {
  write: (items: readonly T[]) => Promise<void>;
  /** How long an item waits for others. */
  everyMs: number;
  /** Items in one write at most. */
  most: number;
  /** Beyond so many waiting items, adding one waits for the write under way. */
  waitingAtMost: number;
  /** Called for a write that failed; its items are given up. */
  onError: (err: unknown, items: number) => void;
};

/** Collects items whose writing is not urgent and writes them in batches, one at a time. */
export const later = <T>({ write, everyMs, most, waitingAtMost, onError }: LaterOptions<T>) => {
  const waiting: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined; // one at a time, so that `add` waits for a slow store, and memory does not grow

  const writeAll = async (signal?: AbortSignal): Promise<void> => {
    for (; waiting.length > 0; signal?.throwIfAborted()) {
      const items = waiting.splice(0, most);
      await write(items).catch((err: unknown) => onError(err, items.length));
    }
  };
  const begin = (signal?: AbortSignal): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll(signal).finally(() => {
      writing = undefined;
    });
    return writing;
  };

  return {
    add: async (item: T): Promise<void> => {
      waiting.push(item);
      if (waiting.length >= most) void begin();
      else timer ??= setTimeout(() => void begin(), everyMs);
      if (waiting.length > waitingAtMost) await writing;
    },
    /** Writes what waits, until `signal` aborts. */
    stop: async (signal: AbortSignal): Promise<void> => {
      await writing;
      await begin(signal);
    },
  };
};
