import type { Db } from "mongodb";
import { collectionOf } from "./collection.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { type MessageRow, messageCollection } from "./messages.ts";

/** Messages whose deliveries are removed in one go: at most a hundred documents are named in a filter. */
const page = 100;

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
     * delivery without its message. Returns how many messages went; call again while it is a full page.
     */
    removeOldest: async (plan: string, before: Date): Promise<{ removed: number; isFull: boolean }> => {
      const old = await messages
        .find(
          { plan, completed_at: { $gt: new Date(0), $lte: before } },
          { projection: { _id: 1 }, limit: page, sort: { completed_at: 1 } },
        )
        .toArray();
      const ids = old.map(({ _id }) => _id);
      if (ids.length === 0) return { removed: 0, isFull: false };
      await deliveries.deleteMany({ message_id: { $in: ids } });
      await messages.deleteMany({ _id: { $in: ids } });
      return { removed: ids.length, isFull: ids.length === page };
    },
  };
};
