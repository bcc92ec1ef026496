import type { Db, Filter, MatchKeysAndValues } from "mongodb";
import type { WebhookHealth } from "../../domain/webhooks/health.ts";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import type { EventKind } from "../../schema/events/envelope.ts";
import type { WebhookFilters } from "../../schema/webhooks/filters.ts";
import { webhookLimits } from "../../schema/webhooks/webhook.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import type { Managed } from "../settings/managed.ts";
import { type DueWork, dueIndex, type SuspendedWork, suspendedIndex } from "../work/due.ts";
import type { Changeable } from "../work/intended-changes.ts";
import { type LeaseTerm, takeLease } from "../work/leases.ts";

/** An outbound endpoint. Its `due_at` is the earliest due delivery; its lease is the right to send to it. */
export type WebhookRow = DueWork &
  SuspendedWork &
  Changeable &
  WebhookHealth & {
    _id: string;
    tenant_id: string;
    app_id: string;
    url: string;
    description: string | null;
    events: EventKind[];
    event_names: string[];
    batch: boolean;
    /** Each value sealed under `webhooks/<id>/headers/<name>`. A list: names may have dots. */
    headers: { name: string; value: Sealed }[];
    body_template: string | null;
    body_content_type: "application/json" | "text/plain";
    filters: WebhookFilters | null;
    /** Keeps what comes and sends nothing. */
    paused: boolean;
    /** Requests begun a second; null = no limit. */
    rate_per_second: number | null;
    max_in_flight: number;
    timeout_ms: number;
    recovery: RecoveryRow | null;
    /** Grows whenever deliveries became due: who gives the endpoint back sees whether that happened meanwhile. */
    due_changes: number;
    /** The last mail that its owner got about this failure; null when none was sent. */
    notified: "failing" | "week" | "disabled" | null;
    disabled_reason: string | null;
    secret: Sealed;
    previous_secret: { secret: Sealed; expires_at: Date } | null;
    managed: Managed | null;
    created_at: Date;
    updated_at: Date;
  };

/** A request to send again what had failed or was missed; done page by page by the holder of the endpoint's lease. */
export type RecoveryRow = {
  /** `rec_…` */
  id: string;
  since: Date;
  until: Date;
  /** `recover`: once for each event that has not arrived; `replay`: every delivery that fits. */
  kind: "recover" | "replay";
  status: "success" | "failed" | "dead" | null;
  event_type: string | null;
  /** Id of the last delivery that was looked at. */
  after: string | null;
  replayed: number;
  requested_at: Date;
  completed_at: Date | null;
};

/** An endpoint on which nothing has failed yet, or whose streak of failures begins anew. */
export const healthAnew = {
  status: "active",
  disabled_reason: null,
  failure_count: 0,
  streak_since: null,
  failing_since: null,
  notified: null,
} as const satisfies Partial<WebhookRow>;

/** What an endpoint is like whose owner says nothing more. */
export const webhookDefaults = {
  batch: false,
  headers: [] as WebhookRow["headers"],
  body_template: null,
  body_content_type: "application/json",
  filters: null,
  paused: false,
  rate_per_second: null,
  max_in_flight: webhookLimits.maxInFlight.standard,
  timeout_ms: webhookLimits.timeoutMs.standard,
  recovery: null,
  due_changes: 0,
} as const satisfies Partial<WebhookRow>;

export const webhookCollection: CollectionSpec = {
  name: "webhooks",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { "managed.uid": 1 }, name: "managed" },
    { key: { status: 1, _id: 1 }, name: "health" },
    suspendedIndex,
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { operator: "app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it is deleted" },
  resumed: { due_changes: { $add: ["$due_changes", 1] } },
};

/** An endpoint under our lease until `until`. */
export type LeasedWebhook = { row: WebhookRow; until: Date };

export type WebhookWork = ReturnType<typeof webhookWork>;

/** What a dispatcher does to endpoints; what it writes under a lease names its fence. */
export const webhookWork = (db: Db) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return {
    rows,

    /** Notes that deliveries have become due: should the endpoint hint be lost, the endpoint is looked at at `at`. */
    makeDue: async (ids: readonly string[], at: Date): Promise<void> => {
      await rows.updateMany({ _id: { $in: [...ids] } }, { $set: { due_at: at }, $inc: { due_changes: 1 } });
    },

    exists: async (id: string): Promise<boolean> => (await rows.countDocuments({ _id: id }, { limit: 1 })) === 1,

    /** Null when another has the lease, or it is gone. */
    take: async (id: string, term: LeaseTerm): Promise<LeasedWebhook | null> => {
      const row = await takeLease(rows, { id, ...term });
      return row === null ? null : { row, until: untilOf(term) };
    },

    /**
     * Extends the lease, writes what requests showed, and reads the endpoint again. Null when another has taken over, or
     * it is gone.
     */
    renew: async (
      { row }: LeasedWebhook,
      found: WebhookFindings,
      term: Omit<LeaseTerm, "holder">,
    ): Promise<LeasedWebhook | null> => {
      const until = untilOf(term);
      const lease = { "lease.until": until, due_at: until };
      const write = (filter: Filter<WebhookRow>, set: MatchKeysAndValues<WebhookRow>) =>
        rows.findOneAndUpdate(
          { _id: row._id, fence: row.fence, lease: { $ne: null }, ...filter },
          { $set: set },
          after,
        );
      const fresh = (await write(streakOf(row), { ...lease, ...found })) ?? (await write({}, lease));
      return fresh === null ? null : { row: fresh, until };
    },

    /**
     * Gives it back, to be looked at again at `dueAt` (null: nothing is left). False, and nothing written, when deliveries
     * became due, its streak began anew or the lease was lost meanwhile.
     */
    settle: async ({ row }: LeasedWebhook, dueAt: Date | null, found: WebhookFindings): Promise<boolean> => {
      const { matchedCount } = await rows.updateOne(
        { _id: row._id, fence: row.fence, due_changes: row.due_changes, ...streakOf(row) },
        { $set: { ...found, lease: null, due_at: dueAt } },
      );
      return matchedCount === 1;
    },

    /** No more is sent to it until somebody enables it again. False when it has another address now, or was lost. */
    disable: async ({ _id, fence, url }: WebhookRow, reason: string, now: Date): Promise<boolean> => {
      const set = { status: "disabled" as const, disabled_reason: reason, last_failure_at: now, updated_at: now };
      const { matchedCount } = await rows.updateOne({ _id, fence, url }, { $set: set });
      return matchedCount === 1;
    },
  };
};

/** What the holder of its lease found out. */
export type WebhookFindings = Partial<WebhookHealth & Pick<WebhookRow, "recovery" | "notified" | "suspended_tenant">>;

/**
 * Only the holder of the lease changes these, but for somebody who enables or disables the endpoint: then what the holder
 * knows of its health is not written.
 */
const streakOf = ({ status, failure_count, streak_since = null }: WebhookRow): Filter<WebhookRow> => ({
  status,
  failure_count,
  streak_since,
});

const after = { returnDocument: "after" } as const;

const untilOf = ({ now, leaseMs }: Omit<LeaseTerm, "holder">): Date => new Date(now.getTime() + leaseMs);

/** The members of an endpoint's health, of what may be more. */
export const healthOf = (row: WebhookHealth): WebhookHealth => ({
  status: row.status,
  failure_count: row.failure_count,
  streak_since: row.streak_since ?? null,
  failing_since: row.failing_since,
  last_success_at: row.last_success_at,
  last_failure_at: row.last_failure_at,
});
