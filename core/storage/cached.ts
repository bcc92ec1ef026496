import { type Clock, systemClock } from "../domain/clock.ts";

/** A read-through cache of at most `max` keys. */
export type Cached<V> = {
  /** The kept value, or a new one; callers of the same key at the same time share one load. */
  get: (key: string) => Promise<V>;
  /** Forgets a key; a load under way is not kept either. */
  drop: (key: string) => void;
  clear: () => void;
};

/** Keeps what `load` gives for `ttlMs`, the most recently used `max` keys. Failed loads are not kept. */
export const cached = <V>({ load, ttlMs, max, clock = systemClock }: CachedOptions<V>): Cached<V> => {
  const entries = new Map<string, { value: Promise<V>; until: number }>(); // in order of last use

  const start = (key: string): Promise<V> => {
    const entry = { value: load(key), until: clock.now().getTime() + ttlMs };
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= max) break;
      entries.delete(oldest);
    }
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return entry.value;
  };

  return {
    get: (key) => {
      const entry = entries.get(key);
      entries.delete(key);
      if (entry === undefined || entry.until <= clock.now().getTime()) return start(key);
      entries.set(key, entry);
      return entry.value;
    },
    drop: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
};

export type CachedOptions<V> = { load: (key: string) => Promise<V>; ttlMs: number; max: number; clock?: Clock };
