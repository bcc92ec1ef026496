import { type Clock, systemClock } from "../../domain/clock.ts";

/** A read-through cache of at most `max` keys. */
export type Cached<V> = {
  /** The kept value, or a new one; callers of the same key at the same time share one load. */
  get: (key: string) => Promise<V>;
  /** Forgets a key; a load under way is not kept either. */
  drop: (key: string) => void;
  /** Forgets the keys whose value fits, and those that are being loaded. */
  dropIf: (fits: (value: V) => boolean) => void;
  clear: () => void;
};

/** Keeps what `load` gives for `ttlMs`, the most recently used `max` keys. Failed loads are not kept. */
export const cached = <V>({ load, ttlMs, max, clock = systemClock }: CachedOptions<V>): Cached<V> => {
  const entries = new Map<string, Entry<V>>(); // in order of last use

  const start = (key: string): Promise<V> => {
    const entry: Entry<V> = { value: load(key), until: clock.now().getTime() + ttlMs, loaded: null };
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= max) break;
      entries.delete(oldest);
    }
    entry.value.then(
      (value) => void (entry.loaded = { value }),
      () => void (entries.get(key) === entry && entries.delete(key)),
    );
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
    dropIf: (fits) => {
      for (const [key, { loaded }] of entries) if (loaded === null || fits(loaded.value)) entries.delete(key);
    },
    clear: () => entries.clear(),
  };
};

type Entry<V> = { value: Promise<V>; until: number; loaded: { value: V } | null };

export type CachedOptions<V> = { load: (key: string) => Promise<V>; ttlMs: number; max: number; clock?: Clock };
