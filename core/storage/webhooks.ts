import type { Db } from "mongodb";
import type { WebhookHealth } from "../domain/webhook-health.ts";
import type { EventKind } from "../schema/event.ts";
import { webhookLimits } from "../schema/webhook.ts";
import type { WebhookFilters } from "../schema/webhook-filters.ts";
import { type CollectionSpec, collectionOf } from "./collection.ts";
import { extendLease, takeLease } from "./leases.ts";
import type { Managed } from "./managed.ts";
import type { Sealed } from "./sealed.ts";
import { dueIndex, type Wakeable } from "./wake.ts";

/** An outbound endpoint. Its `due_at` is the earliest due delivery; its lease is the right to send to it. */
export type WebhookRow = Wakeable &
  WebhookHealth & {
    _id: string;
    tenant_id: string;
    app_id: string;
    url: string;
    description: string | null;
    events: EventKind[];
    event_names: string[];
    batch: boolean;
    /** Each value sealed under `webhooks/<id>/headers/<name>`. A list: names may hold dots. */
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
    /** The last mail that its owner got about this failure; null when none was sent. */
    notified: "failing" | "week" | "disabled" | null;
    disabled_reason: string | null;
    secret: Sealed;
    previous_secret: { secret: Sealed; expires_at: Date } | null;
    managed: Managed | null;
    created_at: Date;
    updated_at: Date;
  };

/** A wish to send again what had failed or was missed; done page by page by whoever holds the endpoint. */
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
  notified: null,
} as const satisfies Partial<WebhookRow>;

export const webhookCollection: CollectionSpec = {
  name: "webhooks",
  indexes: [{ key: { app_id: 1 }, name: "app" }, { key: { "managed.uid": 1 }, name: "managed" }, dueIndex],
};

/** An endpoint under our lease. `until` is what we last wrote to `due_at`: another value means that it was woken. */
export type HeldWebhook = { row: WebhookRow; until: Date };

type Hold = { holder: string; now: Date; holdMs: number };

export type WebhookWork = ReturnType<typeof webhookWork>;

/** What a dispatcher does to endpoints. */
export const webhookWork = (db: Db) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return {
    rows,

    /**
     * Says that deliveries have become due: the endpoint is looked at by `at` at the latest. One that is held is marked
     * too, so that its holder notices before it lets go.
     */
    wake: async (ids: readonly string[], at: Date): Promise<void> => {
      const isLater = { $or: [{ due_at: null }, { due_at: { $gt: at } }, { lease: { $ne: null } }] };
      await rows.updateMany({ _id: { $in: [...ids] }, ...isLater }, { $set: { due_at: at } });
    },

    /** Null when another holds it, or it is gone. */
    take: async (id: string, hold: Hold): Promise<HeldWebhook | null> => {
      const row = await takeLease(rows, { id, ...hold });
      return row === null ? null : { row, until: untilOf(hold) };
    },

    /** Holds it for longer. Null when another has taken over. */
    extend: async ({ row }: HeldWebhook, hold: Omit<Hold, "holder">): Promise<Date | null> =>
      (await extendLease(rows, { id: row._id, fence: row.fence, ...hold })) ? untilOf(hold) : null,

    /** Holds it for longer and reads it again. Null when another has taken over, or it is gone. */
    renew: async ({ row }: HeldWebhook, hold: Omit<Hold, "holder">): Promise<HeldWebhook | null> => {
      const until = untilOf(hold);
      const fresh = await rows.findOneAndUpdate(
        { _id: row._id, fence: row.fence, lease: { $ne: null } },
        { $set: { "lease.until": until, due_at: until } },
        { returnDocument: "after" },
      );
      return fresh === null ? null : { row: fresh, until };
    },

    /** Writes what requests told about the endpoint, unless somebody changed its status meanwhile. */
    saveHealth: async ({ row }: HeldWebhook, health: WebhookHealth): Promise<void> => {
      await rows.updateOne({ _id: row._id, fence: row.fence, status: row.status }, { $set: membersOf(health) });
    },

    /**
     * Gives it back, to be looked at again at `dueAt` (null: nothing is left). False, and nothing written, when it was
     * woken, changed its status or was lost meanwhile.
     */
    settle: async ({ row, until }: HeldWebhook, dueAt: Date | null, health: WebhookHealth): Promise<boolean> => {
      const { matchedCount } = await rows.updateOne(
        { _id: row._id, fence: row.fence, due_at: until, status: row.status },
        { $set: { ...membersOf(health), lease: null, due_at: dueAt } },
      );
      return matchedCount === 1;
    },

    /** No more is sent to it until somebody enables it again. */
    disable: async ({ row }: HeldWebhook, reason: string, now: Date): Promise<void> => {
      const set = { status: "disabled" as const, disabled_reason: reason, last_failure_at: now, updated_at: now };
      await rows.updateOne({ _id: row._id, fence: row.fence }, { $set: set });
    },
  };
};

const untilOf = ({ now, holdMs }: Omit<Hold, "holder">): Date => new Date(now.getTime() + holdMs);

/** Of what may be more than its health. */
const membersOf = (health: WebhookHealth): WebhookHealth => ({
  status: health.status,
  failure_count: health.failure_count,
  streak_since: health.streak_since ?? null,
  failing_since: health.failing_since,
  last_success_at: health.last_success_at,
  last_failure_at: health.last_failure_at,
});
