import type { AnyBulkWriteOperation, Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { subscriptionEvent } from "./events.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

/** An address that is gone, as the provider says, and since when. */
export type Gone = Pick<SubscriptionRow, "_id" | "token"> & { since: Date };

const page = 500; // ids in one filter

/**
 * Marks subscriptions whose address is gone; their events are due at once. One that got a new token
 * meanwhile is left alone, and so is one whose device was seen after the provider lost it: it has registered the same
 * token again.
 */
export const invalidated =
  (db: Db) =>
  async (gone: readonly Gone[], now: Date): Promise<void> => {
    const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
    for (let from = 0; from < gone.length; from += page) {
      const named = new Map(gone.slice(from, from + page).map((one) => [one._id, one]));
      const found = await rows.find({ _id: { $in: [...named.keys()] } }, { batchSize: page + 1 }).toArray();
      const marks = found.filter((row) => isGone(row, named.get(row._id))).map((row) => mark(row, now));
      if (marks.length > 0) await rows.bulkWrite(marks, { ordered: false });
    }
  };

const isGone = (row: SubscriptionRow, gone: Gone | undefined): boolean =>
  gone !== undefined && row.token === gone.token && row.status !== "invalid" && row.last_active_at <= gone.since;

/** Does nothing to one that changed since it was read. */
const mark = (row: SubscriptionRow, now: Date): AnyBulkWriteOperation<SubscriptionRow> => {
  const { _id, token, status, last_active_at } = row;
  const set = { status: "invalid" as const, status_reason: "token_invalid", updated_at: now };
  const event = subscriptionEvent("subscription.invalidated", { ...row, ...set }, now);
  const update = { $set: { ...set, due_at: now }, $push: { outbox: event } };
  return { updateOne: { filter: { _id, token, status, last_active_at }, update } };
};
