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
  const known = knownLeases(leaseMs);
  let looking: Promise<void> | null = null;

  const extendOurs = async (): Promise<void> => {
    const alive = known.ours();
    if (alive.length === 0) return;
    const sinceMs = elapsedFrom(clock, monotonicMs);
    if (await leases.extend(alive)) return known.have(alive, sinceMs);
    const seen = await leases.look(alive);
    known.lost(alive.filter((name) => seen.get(name)?.isOwn !== true));
    known.have(known.ours(), sinceMs);
  };
  const takeFree = async (): Promise<void> => {
    if (known.mayBeFree().length === 0) return;
    const sinceMs = elapsedFrom(clock, monotonicMs);
    const now = clock.now();
    known.see(await leases.look(known.notOurs()), { sinceMs, now }); // it costs less than to take
    const free = known.mayBeFree();
    const sinceTakenMs = elapsedFrom(clock, monotonicMs);
    if (free.length > 0) known.have(await leases.take(free), sinceTakenMs);
  };
  /** In the next turn: leases that are kept from the same moment on are looked at, too. */
  const lookAtAll = (): Promise<void> => Promise.resolve().then(extendOurs).then(takeFree);
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
      known.keep(name);
      return {
        isOurs: async () => {
          if (known.isOurs(name, leaseMs / 2)) return true;
          if (!known.isOurs(name) && known.areOthers(name)) return false;
          looking ??= lookAtAll().finally(() => (looking = null));
          await looking;
          return known.isOurs(name);
        },
        release: async () => {
          const mayBeTaken = looking !== null || known.isOurs(name);
          known.leave(name);
          await looking?.catch(() => undefined);
          if (mayBeTaken) await released(name);
        },
      };
    },
  };
};

/** What a process knows of the leases that it keeps: which are its own, and which others have. */
const knownLeases = (leaseMs: number) => {
  const kept = new Set<string>();
  /** How long ago each was taken or extended. */
  const own = new Map<string, () => number>();
  /** For how long others have them at least, as this process saw it last. */
  const others = new Map<string, { sinceMs: () => number; forMs: number }>();
  const isOurs = (name: string, withinMs = leaseMs): boolean => (own.get(name)?.() ?? withinMs) < withinMs;
  const areOthers = (name: string): boolean => {
    const one = others.get(name);
    return one !== undefined && one.sinceMs() < one.forMs;
  };
  const notOurs = (): string[] => [...kept].filter((name) => !isOurs(name));
  return {
    keep: (name: string): void => void kept.add(name),
    leave: (name: string): void => {
      kept.delete(name);
      own.delete(name);
    },
    isOurs,
    areOthers,
    ours: (): string[] => [...own.keys()].filter((name) => isOurs(name)),
    notOurs,
    /** Those of which it is not known that another has them now. */
    mayBeFree: (): string[] => notOurs().filter((name) => !areOthers(name)),
    have: (names: readonly string[], sinceMs: () => number): void => {
      for (const name of names) if (kept.has(name)) own.set(name, sinceMs);
    },
    lost: (names: readonly string[]): void => {
      for (const name of names) own.delete(name);
    },
    /** Takes note of what the store said of all that are not ours. */
    see: (
      seen: ReadonlyMap<string, { isOwn: boolean; until: Date }>,
      { sinceMs, now }: { sinceMs: () => number; now: Date },
    ): void => {
      others.clear();
      for (const [name, { isOwn, until }] of seen)
        if (!isOwn) others.set(name, { sinceMs, forMs: Math.min(until.getTime() - now.getTime(), leaseMs) });
    },
  };
};
