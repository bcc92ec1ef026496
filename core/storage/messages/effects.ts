import type { Collection, Db } from "mongodb";
import type { Measured } from "../../domain/experiments/effect.ts";
import { heldOut } from "../../domain/experiments/held-out.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { endedStatuses, type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

/** A delivery whose person is measured: since when. */
export type MeasuredDelivery = Pick<DeliveryRow, "_id" | "message_id"> & { user_id: string; measured_at: Date };

/** The first conversion of a person after a delivery that is measured. */
export type Followed = Pick<DeliveryRow, "_id" | "message_id"> & { at: Date };

const page = 100; // people in one filter
const mostRows = 10_000; // of them, the latest
const recountMs = 60_000; // most conversions of a minute cost one count

export type Effects = ReturnType<typeof effects>;

/** What people did after a message that they were sent, or kept from, so that its effect can be measured. */
export const effects = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  const messages = collectionOf<MessageRow>(db, messageCollection);
  return {
    /** The deliveries of these people that began to be measured in a time, both instants included. */
    ofPeople: (appId: string, userIds: readonly string[], from: Date, to: Date): Promise<MeasuredDelivery[]> =>
      inPages(
        [...new Set(userIds)],
        page,
        (some) =>
          rows
            .find({ user_id: { $in: some }, measured_at: { $gte: from, $lte: to }, app_id: appId }, { projection })
            .sort({ measured_at: -1 })
            .limit(mostRows)
            .toArray()
            .then((found) => found.map((row) => row as MeasuredDelivery)), // found by both members
      ),

    /** Notes them, and has their messages counted. Done again it changes nothing. */
    follow: async (all: readonly Followed[], now: Date): Promise<void> => {
      if (all.length === 0) return;
      await rows.bulkWrite(
        all.map(({ _id, at }) => ({ updateOne: { filter: { _id }, update: { $min: { followed_at: at } } } })),
        { ordered: false },
      );
      const some = { _id: { $in: [...new Set(all.map(({ message_id: id }) => id))] } };
      const $inc = { measured: 1 };
      const ended = { $in: [...endedStatuses] };
      await messages.updateMany({ ...some, status: "processing" }, { $inc, $set: { recount: true } });
      await messages.updateMany({ ...some, status: ended, recount: true }, { $inc });
      await messages.updateMany(
        { ...some, status: ended, recount: { $ne: true } },
        { $inc, $set: { recount: true, due_at: new Date(now.getTime() + recountMs) } },
      );
    },

    /** How many people of a message are measured, and did what counts. */
    tally: (messageId: string): Promise<Measured[]> => tallied(rows, messageId),
  };
};

const tallied = async (rows: Collection<DeliveryRow>, messageId: string): Promise<Measured[]> => {
  type Group = { _id: { variant: string | null; by: string | null }; people: number; converted: number };
  const isHeld = { $eq: ["$suppression_reason", "control_group"] };
  const of = {
    person: { $ifNull: ["$user_id", "$_id"] }, // null is erased
    variant: { $ifNull: ["$variant_id", null] },
    by: { $cond: [isHeld, "$error_message", null] },
  };
  const has = { $cond: [{ $gt: ["$followed_at", longAgo] }, 1, 0] };
  const alike = { variant: "$_id.variant", by: "$_id.by" };
  const groups = await rows
    .aggregate<Group>([
      { $match: { message_id: messageId, position: anyText, measured_at: { $gt: longAgo } } },
      { $group: { _id: of, converted: { $max: has } } },
      { $group: { _id: alike, people: { $sum: 1 }, converted: { $sum: "$converted" } } },
    ])
    .toArray();
  return groups.map(({ _id: { variant, by }, ...counts }) => ({ variant, held: heldBy(by), ...counts }));
};

const projection = { message_id: 1, user_id: 1, measured_at: 1 } as const;

const heldBy = (said: string | null): Measured["held"] => {
  if (said === null) return null;
  return said === heldOut.holdout ? "holdout" : "control";
};
