import type { Db } from "mongodb";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { findIds } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

const page = 500; // messages in one filter
const deliveryPages = 20; // in one call, some seconds: its caller looks whether it is still to go on

/** Removes what is older than its plan keeps. */
export const retention = (db: Db) => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  const ofPlanAfter = (name: string): Promise<MessageRow | null> =>
    messages.findOne({ plan: { $gt: name } }, { projection: { plan: 1 }, sort: { plan: 1 }, hint: "retention" });
  return {
    /** The plans that messages were accepted under, also those that are gone: a handful, each found by one look. */
    planNames: async (): Promise<string[]> => {
      const names: string[] = [];
      for (let row = await ofPlanAfter(""); row !== null; row = await ofPlanAfter(row.plan)) names.push(row.plan);
      return names;
    },

    /**
     * Removes the oldest messages of a plan that ended before an instant, deliveries first, so that a kill leaves no
     * delivery without its message: a page of messages, or a part of their deliveries. Call again while there is more.
     */
    removeOldest: async (plan: string, before: Date): Promise<{ removed: number; isMore: boolean }> => {
      const ended = { plan, completed_at: { $gt: longAgo, $lte: before } };
      const ids = await findIds(messages, ended, { sort: { completed_at: 1 }, limit: page });
      if (ids.length === 0) return { removed: 0, isMore: false };
      const filter = { message_id: { $in: ids } };
      const isEmpty = await removePages(deliveries, { filter, hint: "list", pages: deliveryPages });
      if (!isEmpty) return { removed: 0, isMore: true };
      await messages.deleteMany({ _id: { $in: ids } });
      return { removed: ids.length, isMore: ids.length === page };
    },
  };
};
