import type { Db } from "mongodb";
import type { InboxBody } from "../../domain/inbox/item.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

/** What an item of a person's inbox says; its state stands in their inbox (core/storage/inbox/inboxes.ts). */
export type InboxItemRow = InboxBody & {
  _id: string;
  tenant_id: string;
  app_id: string;
  user_id: string;
  message_id: string;
  category: string | null;
  created_at: Date;
  expires_at: Date;
};

export const inboxItemCollection: CollectionSpec = {
  name: "inbox_items",
  indexes: [
    { key: { app_id: 1, user_id: 1 }, name: "person" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "person" },
  erasure: { member: "user_id" },
  retention: { index: "retention" },
};

export const inboxItems = (db: Db) => {
  const rows = collectionOf<InboxItemRow>(db, inboxItemCollection);
  return {
    /** Keeps those that are not there yet. */
    keep: async (items: readonly InboxItemRow[]): Promise<void> => {
      if (items.length > 0) await insertMissing(rows, items);
    },

    /** Those of these ids that are there. */
    read: (ids: readonly string[]): Promise<InboxItemRow[]> =>
      ids.length === 0
        ? Promise.resolve([])
        : rows.find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 }).toArray(),

    remove: async (ids: readonly string[]): Promise<void> => {
      if (ids.length > 0) await rows.deleteMany({ _id: { $in: [...ids] } });
    },

    /** Makes them another user's. */
    give: async (ids: readonly string[], userId: string): Promise<void> => {
      if (ids.length > 0) await rows.updateMany({ _id: { $in: [...ids] } }, { $set: { user_id: userId } });
    },
  };
};
