import type { IndexDescription } from "mongodb";
import { sweepMs } from "../../domain/durations.ts";

/**
 * Members of every document that still needs work. One mechanism serves timers, retries, lease expiry and the sweep:
 * when `due_at` passes, core/queue/timers.ts publishes the document's hint and moves `due_at` on, until the work is done
 * and `due_at` is null. Whoever works on the document has its `lease` and writes only under its `fence`.
 */
export type DueWork = {
  due_at: Date | null;
  lease: { holder: string; until: Date } | null;
  /** Grows with every lease taken; a write under an older fence changes nothing. */
  fence: number;
  /** Set while what is due of it fails although the stores answer. */
  set_aside?: SetAside;
};

/** Why a document could not be handled, how often in a row, and since when. */
export type SetAside = { reason: string; failures: number; since: Date };

/** The index that the timer's query reads: documents that are waiting for an instant. */
export const dueIndex: IndexDescription = {
  key: { due_at: 1 },
  name: "due",
  partialFilterExpression: { due_at: { $gt: new Date(0) } },
};

/** The index that finds the tenants for which something is due, where all processes handle it (core/queue/due-in-turn.ts). */
export const turnIndex = {
  key: { tenant_id: 1, due_at: 1 },
  name: "turns",
  partialFilterExpression: { due_at: { $gt: new Date(0) } },
} as const satisfies IndexDescription;

/** The tenant for which a document waits, as long as the tenant is suspended; left behind once it has ended. */
export type SuspendedWork = { suspended_tenant?: string };

/** The index by which a tenant's documents are found when it may send again: it has only those that wait for that. */
export const suspendedIndex: IndexDescription = {
  key: { suspended_tenant: 1 },
  name: "suspended_tenant",
  partialFilterExpression: { suspended_tenant: { $gt: "" } },
};

/** When a document is looked at again whose hint, or event, may have been lost (docs/decisions/0001). */
export const sweepAfter = (now: Date): Date => new Date(now.getTime() + sweepMs);

export const noWork = { due_at: null, lease: null, fence: 0 } as const;
