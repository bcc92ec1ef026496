import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Finding } from "../policies/conditions.ts";

/** What a pass found: conditions, the status members of the kind, and when to look again. */
export type Verdict = {
  ready: Finding;
  /** Conditions of the kind's own; absent: they stay as they are. */
  conditions?: Readonly<Record<string, Finding>>;
  /** The kind's own status members; absent: they stay as they are. */
  status?: Record<string, unknown>;
  /** Whether something of ours had to be written. */
  isChanged: boolean;
  requeueAfterMs?: number;
};

/** What the operator does about one kind. Both calls are level-based and may be repeated at any point. */
export type Handler<R extends Resource> = {
  /** Makes the spec true. Bad input is a verdict; a rejection means: try again. */
  reconcile: (resource: R, signal: AbortSignal) => Promise<Verdict>;
  /** Takes away what `reconcile` made; null when nothing is left, else why not yet. Reads no Secret. */
  remove: (resource: R, signal: AbortSignal) => Promise<Finding | null>;
};

/**
 * A verdict that leaves everything as it is. It needs a time to look again when no event says that the reason is gone.
 */
export const refusal = (ready: Finding, requeueAfterMs?: number): Verdict => ({
  ready,
  isChanged: false,
  ...(requeueAfterMs !== undefined && { requeueAfterMs }),
});
