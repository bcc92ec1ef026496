import type { Hint } from "./hint.ts";
import type { TenantPlaces } from "./tenant-places.ts";

/** Whether a message of one consumer is its tenant's turn. */
export type TenantTurns = {
  /**
   * Takes places for a message; `free` gives them back. Null when its tenant has its share: it comes again when that is
   * likely to have room. Deliveries that ended so are not counted in the `attempt` of the hint that is answered.
   */
  take: (delivered: Hint, places: number) => { hint: Hint; free: () => void } | null;
};

/** For a consumer whose messages are not told apart by tenant. */
export const noTurns: TenantTurns = { take: (hint) => ({ hint, free: () => undefined }) };

/** A message that was given back unhandled. */
type Deferred = { tenantId: string; dueMs: number; deliveries: number; attempt: number; mayBeRepeated: boolean };

/** JetStream looks through all that a consumer has in hand when a delay ends: so many end at the same time. */
const sharedEndMs = 250;
const delay = { leastMs: 250, mostMs: 10_000 };
/** A message that is so late was given to another process. */
const lateMs = 60_000;

/** `tenantOf` tells a message's tenant by its subject; the places are those of all consumers. */
export const tenantTurns = (
  places: TenantPlaces,
  tenantOf: (subject: string) => string,
  nowMs: () => number = Date.now,
): TenantTurns => {
  const deferred = new Map<number, Deferred>(); // by sequence; the longest deferred first
  const counts = new Map<string, number>();
  const count = (tenantId: string, by: number): number => {
    const now = (counts.get(tenantId) ?? 0) + by;
    if (now === 0) counts.delete(tenantId);
    else counts.set(tenantId, now);
    return now;
  };
  const takeOut = (sequence: number): Deferred | undefined => {
    const found = deferred.get(sequence);
    if (found !== undefined) count(found.tenantId, -1);
    deferred.delete(sequence);
    return found;
  };
  const forgetLate = (): void => {
    for (const [sequence, { dueMs }] of deferred) {
      if (dueMs + lateMs > nowMs()) return;
      takeOut(sequence);
    }
  };
  const defer = (hint: Hint, deliveries: number, tenantId: string): void => {
    forgetLate();
    const inMs = places.turnInMs(tenantId, count(tenantId, 1));
    const wantedMs = nowMs() + Math.min(Math.max(inMs, delay.leastMs), delay.mostMs);
    const dueMs = Math.ceil(wantedMs / sharedEndMs) * sharedEndMs;
    const { attempt, mayBeRepeated } = hint;
    deferred.set(hint.sequence, { tenantId, dueMs, deliveries, attempt, mayBeRepeated });
    hint.nak(dueMs - nowMs());
  };
  return {
    take: (delivered, needed) => {
      const tenantId = tenantOf(delivered.subject);
      const hint = counted(delivered, takeOut(delivered.sequence));
      const free = places.take(tenantId, needed);
      if (free !== null) return { hint, free };
      defer(hint, delivered.attempt, tenantId);
      return null;
    },
  };
};

/** As when it had not been deferred; as it is when another process had it meanwhile. */
const counted = (hint: Hint, before: Deferred | undefined): Hint =>
  before !== undefined && hint.attempt === before.deliveries + 1
    ? { ...hint, attempt: before.attempt, mayBeRepeated: hint.mayBeRepeated || before.mayBeRepeated }
    : hint;
