import type { Db, Filter } from "mongodb";
import type { WebhookHealth } from "../../domain/webhooks/health.ts";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import type { EventKind } from "../../schema/events/envelope.ts";
import type { WebhookFilters } from "../../schema/webhooks/filters.ts";
import { webhookLimits } from "../../schema/webhooks/webhook.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo } from "../mongo/collection.ts";
import { byId } from "../mongo/loader.ts";
import { findIds } from "../mongo/pages.ts";
import type { Managed } from "../settings/managed.ts";
import { dueIndex } from "../work/due.ts";
import type { Changeable } from "../work/intended-changes.ts";

/** An outbound endpoint. */
export type WebhookRow = Changeable &
  WebhookHealth & {
    _id: string;
    /** That of its share when the owner served it first; who has an older one writes nothing. */
    fence: number;
    /** When its recovery was requested; null while there is none to do. */
    due_at: Date | null;
    tenant_id: string;
    app_id: string;
    /** Whose owner serves it, for as long as it is there; that of its app when absent. */
    partition?: number;
    url: string;
    description: string | null;
    events: EventKind[];
    event_names: string[];
    /** Of messages of people, those alone that are for it; absent of a former release. */
    audience?: "bot" | null;
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
    /** The last mail that its owner got about this failure; null when none was sent. */
    notified: "failing" | "week" | "disabled" | null;
    disabled_reason: string | null;
    secret: Sealed;
    previous_secret: { secret: Sealed; expires_at: Date } | null;
    managed: Managed | null;
    created_at: Date;
    updated_at: Date;
  };

/** A request to send again what had failed or was missed; done page by page by the endpoint's owner. */
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
  fence: 0,
  due_at: null,
} as const satisfies Partial<WebhookRow>;

export const webhookCollection: CollectionSpec = {
  name: "webhooks",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { "managed.uid": 1 }, name: "managed" },
    { key: { status: 1, _id: 1 }, name: "health" },
    dueIndex,
  ],
  former: ["suspended_tenant"],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it is deleted" },
};

export type WebhookWork = ReturnType<typeof webhookWork>;

/** What the owner of an endpoint does to it; what it writes names the fence of its share. */
export const webhookWork = (db: Db) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return {
    find: byId(rows),

    /** Notes who owns it now, so that an older owner writes nothing any more. Null when a newer one did, or it is gone. */
    own: (id: string, fence: number): Promise<WebhookRow | null> =>
      rows.findOneAndUpdate({ _id: id, fence: { $lte: fence } }, { $set: { fence } }, { returnDocument: "after" }),

    /** Ids of endpoints with a recovery that is to be done. */
    recovering: (): Promise<string[]> => findIds(rows, { due_at: { $gt: longAgo, $lte: farAhead } }, { hint: "due" }),

    /**
     * Writes what requests showed of several endpoints. False when something of it was not written: of an endpoint that has
     * another owner, is gone, or was enabled or disabled by somebody since its row was read.
     */
    noteHealth: async (notes: readonly HealthNote[]): Promise<boolean> => {
      const { matchedCount } = await rows.bulkWrite(
        notes.map(({ row, health }) => ({
          updateOne: {
            filter: { ...owned(row), ...streakOf(row) },
            update: { $set: { ...health, ...(health.status === "active" && { notified: null }) } },
          },
        })),
        { ordered: false },
      );
      return matchedCount === notes.length;
    },

    /** Notes how far a recovery is; false when it has another owner, or is gone. */
    noteRecovery: async (row: WebhookRow, recovery: RecoveryRow): Promise<boolean> => {
      const due = recovery.completed_at === null ? {} : { due_at: null };
      const filter = { ...owned(row), "recovery.id": recovery.id };
      return (await rows.updateOne(filter, { $set: { recovery, ...due } })).matchedCount === 1;
    },

    /** No more is sent to it until somebody enables it again. False when it has another address or owner now, or is gone. */
    disable: async (row: WebhookRow, reason: string, now: Date): Promise<boolean> => {
      const set = { status: "disabled" as const, disabled_reason: reason, last_failure_at: now, updated_at: now };
      return (await rows.updateOne({ ...owned(row), url: row.url }, { $set: set })).matchedCount === 1;
    },
  };
};

/** What requests showed of an endpoint, whose row was read before. */
export type HealthNote = { row: WebhookRow; health: WebhookHealth };

const owned = ({ _id, fence }: WebhookRow) => ({ _id, fence });

/**
 * Only the owner changes these, but for somebody who enables or disables the endpoint: then what the owner knows of its
 * health is not written.
 */
const streakOf = ({ status, failure_count, streak_since = null }: WebhookRow): Filter<WebhookRow> => ({
  status,
  failure_count,
  streak_since,
});

/** Whether two states of an endpoint have the same streak of failures. */
export const isSameStreak = (one: WebhookHealth, other: WebhookHealth): boolean =>
  one.status === other.status &&
  one.failure_count === other.failure_count &&
  one.streak_since?.getTime() === other.streak_since?.getTime();

/** The members of an endpoint's health, of what may be more. */
export const healthOf = (row: WebhookHealth): WebhookHealth => ({
  status: row.status,
  failure_count: row.failure_count,
  streak_since: row.streak_since ?? null,
  failing_since: row.failing_since,
  last_success_at: row.last_success_at,
  last_failure_at: row.last_failure_at,
});
