import type { Clock } from "../domain/clock.ts";
import { gather } from "../runtime/batching/gather.ts";
import { elapsedFrom, type MonotonicMs } from "../runtime/process/elapsed.ts";
import type { HeldLeases } from "../storage/work/held-leases.ts";

export type KeptLeasesDeps = {
  leaseMs: number;
  clock: Clock;
  leases: HeldLeases;
  /** `performance.now()` when left out. */
  monotonicMs?: MonotonicMs;
};

export type KeptLeases = ReturnType<typeof keptLeases>;

export type OwnedLease = {
  /** Whether this process has it, which it takes where it can be had. */
  isOurs: () => Promise<boolean>;
  release: () => Promise<void>;
};

const mostReleased = 1_000;

/**
 * Leases that one process keeps, as many as it can have. When half of the time of one is gone, all that it has are extended by
 * one command: by both clocks, as the wall clock may be put back, and the monotonic one stands still while a machine is
 * suspended. When the time of one that another has is over, all that others have are looked at together, and those that are
 * free are taken together.
 */
export const keptLeases = ({ leaseMs, clock, leases, monotonicMs }: KeptLeasesDeps) => {
  const kept = new Set<string>();
  /** How long ago each was taken or extended. */
  const ours = new Map<string, () => number>();
  /** For how long others have them at least, as this process saw it last. */
  const others = new Map<string, { sinceMs: () => number; forMs: number }>();
  let looking: Promise<void> | null = null;

  const elapsed = (): (() => number) => elapsedFrom(clock, monotonicMs);
  const isOurs = (name: string, withinMs = leaseMs): boolean => (ours.get(name)?.() ?? withinMs) < withinMs;
  const areOthers = (name: string): boolean => {
    const one = others.get(name);
    return one !== undefined && one.sinceMs() < one.forMs;
  };
  const have = (names: readonly string[], sinceMs: () => number): void => {
    for (const name of names) if (kept.has(name)) ours.set(name, sinceMs);
  };

  const extendOurs = async (): Promise<void> => {
    const alive = [...ours.keys()].filter((name) => isOurs(name));
    if (alive.length === 0) return;
    const sinceMs = elapsed();
    if (await leases.extend(alive)) return have(alive, sinceMs);
    const seen = await leases.look(alive);
    for (const name of alive) ours.delete(name);
    const left = alive.filter((name) => seen.get(name)?.isOwn === true);
    have(left, sinceMs);
  };
  const takeFree = async (): Promise<void> => {
    const wanted = [...kept].filter((name) => !isOurs(name));
    if (wanted.every(areOthers)) return;
    const [sinceMs, now] = [elapsed(), clock.now().getTime()];
    const seen = await leases.look(wanted); // it costs less than to take
    for (const name of wanted) {
      const { isOwn = true, until } = seen.get(name) ?? {};
      if (isOwn || until === undefined) others.delete(name);
      else others.set(name, { sinceMs, forMs: Math.min(until.getTime() - now, leaseMs) });
    }
    const free = wanted.filter((name) => !areOthers(name));
    const sinceTakenMs = elapsed();
    if (free.length > 0) have(await leases.take(free), sinceTakenMs);
  };
  const lookAtAll = async (): Promise<void> => {
    await null; // others that are kept from the same moment on are looked at, too
    await extendOurs();
    await takeFree();
  };
  const released = gather<string, undefined>({
    write: async (names) => {
      await leases.release(names);
      return names.map(() => undefined);
    },
    most: mostReleased,
    inFlight: 1,
    isOfTurn: true,
  });

  return {
    /** Keeps the lease of a name from now on. */
    keep: (name: string): OwnedLease => {
      kept.add(name);
      return {
        isOurs: async () => {
          if (isOurs(name, leaseMs / 2)) return true;
          if (!isOurs(name) && areOthers(name)) return false;
          looking ??= lookAtAll().finally(() => (looking = null));
          await looking;
          return isOurs(name);
        },
        release: async () => {
          kept.delete(name);
          const mayBeTaken = looking !== null;
          await looking?.catch(() => undefined);
          if (ours.delete(name) || mayBeTaken) await released(name);
        },
      };
    },
  };
};
