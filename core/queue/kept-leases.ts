import type { Clock } from "../domain/clock.ts";
import { elapsedFrom, type MonotonicMs } from "../runtime/process/elapsed.ts";
import type { NamedLease } from "../storage/work/leases.ts";

export type KeptLeasesDeps = {
  leaseMs: number;
  clock: Clock;
  leaseOf: (name: string) => NamedLease;
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
 * clocks, as the wall clock may be put back, and the monotonic one stands still while a machine is suspended.
 */
export const keptLeases = ({ leaseMs, clock, leaseOf, extendAll, monotonicMs }: KeptLeasesDeps) => {
  const ours = new Map<NamedLease, { name: string; sinceMs: () => number }>();
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
    /** How long another has it at least. */
    let others: { sinceMs: () => number; forMs: number } | null = null;
    const isOthers = async (since: () => number): Promise<boolean> => {
      const freeAt = await lease.freeAt();
      const forMs = Math.min((freeAt?.getTime() ?? 0) - clock.now().getTime(), leaseMs);
      others = forMs > 0 ? { sinceMs: since, forMs } : null;
      return others !== null;
    };
    return {
      isOurs: async () => {
        if (ageOf(lease) < leaseMs / 2) return true;
        if (others !== null && others.sinceMs() < others.forMs) return false;
        if (ageOf(lease) < leaseMs && (await isExtended(lease))) return true;
        const sinceMs = elapsedFrom(clock, monotonicMs);
        ours.delete(lease);
        if ((await isOthers(sinceMs)) || (await lease.take()) === null) return false; // to look costs less than to take
        ours.set(lease, { name, sinceMs });
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
