/**
 * The highest first: what a person waits for goes before what the operator asks of itself. `again`: a pass that failed,
 * or one that was asked for at a later time.
 */
export const priorities = ["new", "changed", "deleted", "again", "resync"] as const;
export type Priority = (typeof priorities)[number];

export type WorkQueue = ReturnType<typeof workQueue>;

/** `since`: when it was added, ms. */
export type Work = { key: string; priority: Priority; since: number };

export type QueueHooks = {
  onAdd?: () => void;
  onStart?: (waitedMs: number) => void;
  onDone?: (workedMs: number) => void;
  onRetry?: () => void;
};

/** Back-off of client-go: 5 ms, doubling, at most 1000 s. */
export const retryDelayMs = (failures: number): number => Math.min(1_000_000, 5 * 2 ** Math.min(failures - 1, 30));

/**
 * Keys that wait to be worked on. A key waits once, however often it is added. No key is worked on twice at a time:
 * when it is added meanwhile it waits until `done`. A closed queue takes nothing; it is closed at first, and forgets
 * everything as it is closed. `next` gives null when its signal aborts first; `running` gives start times, ms since the
 * epoch.
 */
export const workQueue = (hooks: QueueHooks = {}) => {
  const waiting = waitingKeys();
  const running = new Map<string, number>();
  const again = new Map<string, Priority>(); // added while running
  const failures = backOffs();
  const idle = new Set<() => void>();
  let isOpen = false;

  const add = (key: string, priority: Priority): void => {
    if (!isOpen) return;
    timers.cancel(key);
    if (running.has(key)) return void again.set(key, higher(again.get(key) ?? priority, priority));
    if (waiting.put(key, priority)) hooks.onAdd?.();
    const [notify] = idle;
    notify?.();
  };
  const timers = delayed((key) => add(key, "again"));

  const begin = (work: Work): Work => {
    running.set(work.key, Date.now());
    hooks.onStart?.(Date.now() - work.since);
    return work;
  };

  const next = async (signal: AbortSignal): Promise<Work | null> => {
    while (!signal.aborted) {
      const work = waiting.take();
      if (work !== null) return begin(work);
      await notified(idle, signal);
    }
    return null;
  };

  const done = (key: string): void => {
    hooks.onDone?.(Date.now() - (running.get(key) ?? Date.now()));
    running.delete(key);
    const priority = again.get(key);
    again.delete(key);
    if (priority !== undefined) add(key, priority);
  };

  const addAfter = (key: string, delayMs: number): void => {
    if (isOpen) timers.set(key, delayMs); // unless it is to be added sooner already
  };
  /** Adds a key after its own back-off, which doubles with each call until `forget`. */
  const addFailed = (key: string): void => {
    hooks.onRetry?.();
    addAfter(key, failures.next(key));
  };

  const open = (): void => void (isOpen = true);
  const close = (): void => {
    isOpen = false;
    for (const part of [waiting, timers, failures]) part.clear();
    again.clear();
  };

  const adds = { add, addAfter, addFailed, forget: failures.forget };
  return { ...adds, open, close, next, done, size: waiting.size, running: (): Iterable<number> => running.values() };
};

/** How often each key has failed in a row. */
const backOffs = () => {
  const failures = new Map<string, number>();
  return {
    /** Counts one more; the delay before the next try, ms. */
    next: (key: string): number => {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      return retryDelayMs(count);
    },
    forget: (key: string): void => void failures.delete(key),
    clear: (): void => failures.clear(),
  };
};

/** Keys by priority, each once; those of one priority in the order in which they came. */
const waitingKeys = () => {
  const byPriority = new Map<Priority, Map<string, number>>(priorities.map((priority) => [priority, new Map()])); // key to when it was added
  const priorityOf = (key: string): Priority | undefined =>
    priorities.find((priority) => byPriority.get(priority)?.has(key));
  return {
    /** False when the key waited already; it then has the higher of both priorities. */
    put: (key: string, priority: Priority): boolean => {
      const old = priorityOf(key);
      const since = old === undefined ? undefined : byPriority.get(old)?.get(key);
      if (old !== undefined) byPriority.get(old)?.delete(key);
      byPriority.get(old === undefined ? priority : higher(old, priority))?.set(key, since ?? Date.now());
      return old === undefined;
    },
    take: (): Work | null => {
      for (const [priority, keys] of byPriority) {
        const [first] = keys;
        if (first === undefined) continue;
        keys.delete(first[0]);
        return { key: first[0], since: first[1], priority };
      }
      return null;
    },
    size: (): number => [...byPriority.values()].reduce((sum, keys) => sum + keys.size, 0),
    clear: (): void => {
      for (const keys of byPriority.values()) keys.clear();
    },
  };
};

const higher = (a: Priority, b: Priority): Priority => (priorities.indexOf(a) <= priorities.indexOf(b) ? a : b);

/** Waits until `add` calls, or `signal` aborts. `idle` holds those who wait. */
const notified = (idle: Set<() => void>, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    idle.delete(end);
    signal.removeEventListener("abort", end);
    resolve();
  };
  idle.add(end);
  signal.addEventListener("abort", end, { once: true });
  return promise;
};

/** One timer for each key; of two the sooner counts. */
const delayed = (fire: (key: string) => void) => {
  const timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  const cancel = (key: string): void => {
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
  };
  const set = (key: string, delayMs: number): void => {
    const at = Date.now() + delayMs;
    const planned = timers.get(key);
    if (planned !== undefined && planned.at <= at) return;
    cancel(key);
    const timer = setTimeout(() => fire(key), delayMs);
    timer.unref(); // a program that waits for nothing else may end
    timers.set(key, { timer, at });
  };
  const clear = (): void => {
    for (const { timer } of timers.values()) clearTimeout(timer);
    timers.clear();
  };
  return { set, cancel, clear };
};
