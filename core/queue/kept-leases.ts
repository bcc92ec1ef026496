import type { Clock } from "../domain/clock.ts";
import { elapsedFrom, type MonotonicMs } from "../runtime/process/elapsed.ts";
import type { NamedLease } from "../storage/work/leases.ts";

export type KeptLeasesDeps = {
  leaseMs: number;
  clock: Clock;
  leaseOf: (name: string) => NamedLease;
  /** When each of these is free, if its holder does nothing; those that are free now are left out. */
  freeAtOf: (names: readonly string[]) => Promise<ReadonlyMap<string, Date>>;
  /** True when this process still has all that it names. */
  extendAll: (names: readonly string[]) => Promise<boolean>;
  /** `performance.now()` when left out. */
  monotonicMs?: MonotonicMs;
};

export type KeptLeases = ReturnType<typeof keptLeases>;

export type OwnedLease = {
  /** Whether this process has it, which it takes where it can be had. */
  isOurs: () => Promise<boolean>;
  release: () => Promise<void>;
};

/**
 * Named leases of one process. When half of the time of one is gone, all that it has are extended by one command: by both
 * clocks, as the wall clock may be put back, and the monotonic one stands still while a machine is suspended. When the time
 * of one that another has is over, all that others have are looked at by one command.
 */
export const keptLeases = (deps: KeptLeasesDeps) => {
  const { leaseMs, clock, leaseOf, extendAll, monotonicMs } = deps;
  const ours = new Map<NamedLease, { name: string; sinceMs: () => number }>();
  const others = leasesOfOthers(deps, (name) => [...ours.values()].some((one) => one.name === name));
  let extending: Promise<void> | null = null;
  const ageOf = (lease: NamedLease): number => ours.get(lease)?.sinceMs() ?? Number.POSITIVE_INFINITY;

  const extendOurs = async (): Promise<void> => {
    const alive = [...ours].filter(([lease]) => ageOf(lease) < leaseMs);
    const sinceMs = elapsedFrom(clock, monotonicMs);
    const hasAll = await extendAll(alive.map(([, { name }]) => name));
    for (const [lease, { name }] of alive) {
      if (!ours.has(lease)) continue; // given back meanwhile
      if (hasAll || (await lease.extend())) ours.set(lease, { name, sinceMs });
      else ours.delete(lease);
    }
  };
  const isExtended = async (lease: NamedLease): Promise<boolean> => {
    extending ??= extendOurs().finally(() => (extending = null));
    await extending;
    return ageOf(lease) < leaseMs;
  };

  /** The lease of this name, which nobody has yet. */
  const keep = (name: string): OwnedLease => {
    const lease = leaseOf(name);
    others.watch(name);
    return {
      isOurs: async () => {
        if (ageOf(lease) < leaseMs / 2) return true;
        if (others.have(name)) return false;
        if (ageOf(lease) < leaseMs && (await isExtended(lease))) return true;
        const sinceMs = elapsedFrom(clock, monotonicMs);
        ours.delete(lease);
        await others.look(); // to look costs less than to take
        if (others.have(name) || (await lease.take()) === null) return false;
        ours.set(lease, { name, sinceMs });
        others.watch(name); // it may have been looked at between the taking and its reply
        return true;
      },
      release: async () => {
        ours.delete(lease);
        await lease.release();
      },
    };
  };
  return { keep };
};

/** How long others have leases at least, as this process saw it last. */
const leasesOfOthers = (
  { leaseMs, clock, freeAtOf, monotonicMs }: KeptLeasesDeps,
  isOurs: (name: string) => boolean,
) => {
  const seen = new Map<string, { sinceMs: () => number; forMs: number } | null>();
  let looking: Promise<void> | null = null;
  const lookAtAll = async (): Promise<void> => {
    const sinceMs = elapsedFrom(clock, monotonicMs);
    const freeAt = await freeAtOf([...seen.keys()].filter((name) => !isOurs(name)));
    for (const name of seen.keys()) {
      const forMs = Math.min((freeAt.get(name)?.getTime() ?? 0) - clock.now().getTime(), leaseMs);
      seen.set(name, forMs > 0 && !isOurs(name) ? { sinceMs, forMs } : null);
    }
  };
  return {
    /** Looks at it from now on; nobody is known to have it. */
    watch: (name: string): void => void seen.set(name, null),
    have: (name: string): boolean => {
      const one = seen.get(name) ?? null;
      return one !== null && one.sinceMs() < one.forMs;
    },
    look: async (): Promise<void> => {
      looking ??= lookAtAll().finally(() => (looking = null));
      await looking;
    },
  };
};
