import { LRUCache } from "lru-cache";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import { type Clock, systemClock } from "../../domain/clock.ts";

/** A read-through cache: keeps what `load` gives for `ttlMs`, the most recently used `max` keys. Failed loads are not kept. */
export const cached = <V>({ load, ttlMs, max, clock = systemClock }: CachedOptions<V>) => {
  const entries = new LRUCache<string, Entry<V>>({
    ...atMostEntries(max),
    ttl: ttlMs - 1, // what is exactly as old as its ttl has expired
    ttlResolution: 0, // the clock is asked each time
    perf: { now: () => clock.now().getTime() },
  });
  const start = (key: string): Entry<V> => {
    const entry: Entry<V> = { value: load(key), loaded: null };
    entries.set(key, entry);
    entry.value.then(
      (value) => void (entry.loaded = { value }),
      () => void (entries.peek(key) === entry && entries.delete(key)),
    );
    return entry;
  };
  return {
    /** The kept value, or a new one; callers of the same key at the same time share one load. */
    get: (key: string): Promise<V> => (entries.get(key) ?? start(key)).value,
    /** Forgets a key; a load under way is not kept either. */
    drop: (key: string): void => void entries.delete(key),
    /** Forgets the keys whose value fits, and those that are being loaded. */
    dropIf: (fits: (value: V) => boolean): void => {
      const dropped = [...entries].filter(([, { loaded }]) => loaded === null || fits(loaded.value));
      for (const [key] of dropped) entries.delete(key);
    },
    clear: (): void => entries.clear(),
  };
};

type Entry<V> = { value: Promise<V>; loaded: { value: V } | null };

export type CachedOptions<V> = { load: (key: string) => Promise<V>; ttlMs: number; max: number; clock?: Clock };
