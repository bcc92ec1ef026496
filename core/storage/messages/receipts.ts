import type { AnyBulkWriteOperation, Db } from "mongodb";
import type { Progress } from "../../domain/messages/progress.ts";
import { newlyReceived } from "../../domain/messages/received.ts";
import type { Counts } from "../../schema/messages/message.ts";
import { dueQuarters } from "../analytics/due-quarters.ts";
import { conversionValues } from "../events/conversion-values.ts";
import { collectionOf } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { endedStatuses, type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

/** What receipts add to the counters of a message, and to those of its variants. */
export type Added = { counts: Counts; ofVariants: Record<string, Counts> };

/** What receipts made of a delivery that was read. */
export type Move = { before: DeliveryRow; after: Progress };

/**
 * Counters of a message that has just been counted are counted once more when they move within this time, ms: deliveries
 * may have been stored before they were counted whose receipts were added after.
 */
const unsureMs = 60_000;
const page = 500; // ids in one filter

/** What receipts change: deliveries, and the counters of their messages. */
export const receiptStore = (db: Db) => {
  const [deliveries, messages] = [
    collectionOf<DeliveryRow>(db, deliveryCollection),
    collectionOf<MessageRow>(db, messageCollection),
  ];
  return {
    /** Has counters made anew by the quarters in which these deliveries were made. May be repeated. */
    touch: dueQuarters(db).touch,

    /** Those that are stored, of these ids. */
    find: (ids: readonly string[]): Promise<DeliveryRow[]> =>
      inPages(ids, page, (some) => deliveries.find({ _id: { $in: some } }, { batchSize: page + 1 }).toArray()),

    /** What the stored conversions come to that count for each of these deliveries, in millionths. */
    valuesOf: conversionValues(db),

    /** Writes what receipts made of deliveries. False when some had changed since they were read; they stay as they are. */
    move: async (moves: readonly Move[], now: Date): Promise<boolean> => {
      if (moves.length === 0) return true;
      const { matchedCount } = await deliveries.bulkWrite(
        moves.map((one) => writeOf(one, now)),
        { ordered: false },
      );
      return matchedCount === moves.length;
    },

    /** Adds to the counters of messages and, in the same write, to those of their variants. */
    count: async (changes: ReadonlyMap<string, Added>, now: Date): Promise<void> => {
      const writes = [...changes].flatMap(([id, added]) => countsOf(id, added, now));
      if (writes.length > 0) await messages.bulkWrite(writes, { ordered: false });
    },

    /** The plan that each of these messages was accepted under. */
    plansOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const found = await inPages(ids, page, (some) =>
        messages.find({ _id: { $in: some } }, { projection: { plan: 1 }, batchSize: page + 1 }).toArray(),
      );
      return new Map(found.map(({ _id, plan }) => [_id, plan]));
    },

    /** Has the counters of these messages made anew from their deliveries, once that is unlikely to be in vain. */
    recount: async (ids: readonly string[], now: Date): Promise<void> => {
      const filter = { _id: { $in: [...ids] }, status: { $in: [...endedStatuses] } };
      if (ids.length > 0) await messages.updateMany(filter, { $set: { recount: true, due_at: afterUnsure(now) } });
    },
  };
};

/** Made only while the delivery is as it was read: each change has a later `updated_at`. */
const writeOf = ({ before, after }: Move, now: Date): AnyBulkWriteOperation<DeliveryRow> => {
  const { _id, updated_at: readAt } = before;
  const changed = Object.entries(after).filter(([name, value]) => Reflect.get(before, name) !== value);
  const gone = Object.keys(before).filter((name) => !(name in after));
  const updated_at = new Date(Math.max(now.getTime(), readAt.getTime() + 1));
  const received = Object.fromEntries(prefixed("received", newlyReceived(before, after, updated_at)));
  return {
    updateOne: {
      filter: { _id, updated_at: readAt },
      update: {
        $set: { ...Object.fromEntries(changed), ...received, updated_at },
        ...(gone.length > 0 && { $unset: Object.fromEntries(gone.map((name) => [name, ""])) }),
      },
    },
  };
};

const prefixed = <T>(prefix: string, of: Record<string, T>): [string, T][] =>
  Object.entries(of).map(([key, value]) => [`${prefix}.${key}`, value]);

/** One of three writes fits. */
const countsOf = (_id: string, { counts, ofVariants }: Added, now: Date): AnyBulkWriteOperation<MessageRow>[] => {
  const inVariants = Object.entries(ofVariants).flatMap(([id, of]) => prefixed(`variant_counts.${id}`, of));
  const $inc = Object.fromEntries([...prefixed("counts", counts), ...inVariants]);
  const unsure = { $gt: new Date(now.getTime() - unsureMs) };
  const ended = { $in: [...endedStatuses] };
  const add = (filter: object, more: object) => ({
    updateOne: { filter: { _id, ...filter }, update: { $inc, $set: { updated_at: now, ...more } } },
  });
  return [
    add({ status: "processing" }, { recount: true }), // it may be ended by what was in memory before
    add({ status: ended, counted_at: unsure }, { recount: true, due_at: afterUnsure(now) }),
    add({ status: ended, counted_at: { $not: unsure } }, {}),
  ];
};

/** When nothing of before may be under way any more. */
const afterUnsure = (now: Date): Date => new Date(now.getTime() + unsureMs);
