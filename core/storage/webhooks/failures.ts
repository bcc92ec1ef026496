import type { Db, Filter } from "mongodb";
import { disabledReasons, type WebhookHealth, type WebhookNotice } from "../../domain/webhooks/health.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type WebhookRow, webhookCollection } from "./webhooks.ts";

export type WebhookFailures = ReturnType<typeof webhookFailures>;

/** Endpoints that fail, as the check of their health reads and writes them; their owners send to them meanwhile. */
export const webhookFailures = (db: Db) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return {
    /** Endpoints that are failing, or that the service disabled and whose owner got no mail about it: a page, by id. */
    page: (status: "failing" | "disabled", { after, limit }: { after: string; limit: number }): Promise<WebhookRow[]> =>
      rows
        .find({ status, _id: { $gt: after }, ...(status === "disabled" && notNotified) })
        .sort({ _id: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray(),

    /** Disables it unless it has changed since it was read; as it is then. */
    disable: (row: WebhookRow, reason: string, now: Date): Promise<WebhookRow | null> =>
      rows.findOneAndUpdate(
        unchanged(row),
        { $set: { status: "disabled", disabled_reason: reason, updated_at: now } },
        { returnDocument: "after" },
      ),

    /** Notes which mail the owner got, unless the failure is over. */
    noteNotice: async (row: WebhookRow, notice: WebhookNotice): Promise<void> => {
      await rows.updateOne(unchanged(row), { $set: { notified: notice } });
    },

    /** How many endpoints are in each state. */
    states: async (): Promise<Record<WebhookHealth["status"], number>> => {
      const counted = (["active", "failing", "disabled"] as const).map((status) => rows.countDocuments({ status }));
      const [active = 0, failing = 0, disabled = 0] = await Promise.all(counted);
      return { active, failing, disabled };
    },
  };
};

const notNotified: Filter<WebhookRow> = {
  disabled_reason: { $in: Object.values(disabledReasons) },
  notified: { $ne: "disabled" },
};

const unchanged = ({ _id, status, failing_since }: WebhookRow): Filter<WebhookRow> => ({ _id, status, failing_since });
