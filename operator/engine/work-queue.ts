/**
 * In order of precedence: what a person waits for goes before what the operator asks of itself. `again`: a pass that
 * failed, or whose time has come.
 */
export const lanes = ["new", "changed", "deleted", "again", "resync"] as const;
export type Lane = (typeof lanes)[number];

/**
 * Keys that wait to be worked on. A key waits once, whatever is added; it is never worked on twice at a time: what is
 * added meanwhile waits until `done`. While it is closed, as it is at first, it takes nothing.
 */
export type WorkQueue = {
  open: () => void;
  /** Forgets everything that waits, and all timers. */
  close: () => void;
  add: (key: string, lane: Lane) => void;
  /** Adds later, unless it is to come sooner already. */
  addAfter: (key: string, delayMs: number) => void;
  /** Adds after the key's own back-off, which doubles with each call until `forget`. */
  addFailed: (key: string) => void;
  forget: (key: string) => void;
  /** The next key and its lane, or null when `signal` aborts first. */
  next: (signal: AbortSignal) => Promise<Work | null>;
  done: (key: string) => void;
  size: () => number;
  /** Start times (ms since the epoch) of what is being worked on. */
  running: () => Iterable<number>;
};

/** `since`: when it was added, ms. */
export type Work = { key: string; lane: Lane; since: number };

export type QueueHooks = {
  onAdd?: () => void;
  onStart?: (waitedMs: number) => void;
  onDone?: (workedMs: number) => void;
  onRetry?: () => void;
};

/** Back-off of client-go: 5 ms, doubling, at most 1000 s. */
export const retryDelayMs = (failures: number): number => Math.min(1_000_000, 5 * 2 ** Math.min(failures - 1, 30));

export const workQueue = (hooks: QueueHooks = {}): WorkQueue => {
  const waiting = waitingKeys();
  const running = new Map<string, number>();
  const again = new Map<string, Lane>(); // added while running
  const failures = backOffs();
  const idle = new Set<() => void>();
  let isOpen = false;

  const add = (key: string, lane: Lane): void => {
    if (!isOpen) return;
    timers.cancel(key);
    if (running.has(key)) return void again.set(key, sooner(again.get(key) ?? lane, lane));
    if (waiting.put(key, lane)) hooks.onAdd?.();
    const [wake] = idle;
    wake?.();
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
      await woken(idle, signal);
    }
    return null;
  };

  const done = (key: string): void => {
    hooks.onDone?.(Date.now() - (running.get(key) ?? Date.now()));
    running.delete(key);
    const lane = again.get(key);
    again.delete(key);
    if (lane !== undefined) add(key, lane);
  };

  const addAfter = (key: string, delayMs: number): void => {
    if (isOpen) timers.set(key, delayMs);
  };
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
  return { ...adds, open, close, next, done, size: waiting.size, running: () => running.values() };
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

/** Keys by lane, each once, first come first served within a lane. */
const waitingKeys = () => {
  const byLane = new Map<Lane, Map<string, number>>(lanes.map((lane) => [lane, new Map()])); // key to when it was added
  const laneOf = (key: string): Lane | undefined => lanes.find((lane) => byLane.get(lane)?.has(key));
  return {
    /** False when the key waited already; it then waits in the sooner of both lanes. */
    put: (key: string, lane: Lane): boolean => {
      const old = laneOf(key);
      const since = old === undefined ? undefined : byLane.get(old)?.get(key);
      if (old !== undefined) byLane.get(old)?.delete(key);
      byLane.get(old === undefined ? lane : sooner(old, lane))?.set(key, since ?? Date.now());
      return old === undefined;
    },
    take: (): Work | null => {
      for (const [lane, keys] of byLane) {
        const [first] = keys;
        if (first === undefined) continue;
        keys.delete(first[0]);
        return { key: first[0], since: first[1], lane };
      }
      return null;
    },
    size: (): number => [...byLane.values()].reduce((sum, keys) => sum + keys.size, 0),
    clear: (): void => {
      for (const keys of byLane.values()) keys.clear();
    },
  };
};

const sooner = (a: Lane, b: Lane): Lane => (lanes.indexOf(a) <= lanes.indexOf(b) ? a : b);

/** Waits until `add` wakes it or `signal` aborts. */
const woken = (idle: Set<() => void>, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => {
    idle.delete(wake);
    signal.removeEventListener("abort", wake);
    resolve();
  };
  idle.add(wake);
  signal.addEventListener("abort", wake, { once: true });
  return promise;
};

/** One timer a key; the sooner wins. */
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
