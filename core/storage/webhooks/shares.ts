import type { Db } from "mongodb";
import { type ShareTable, shareCount } from "../../domain/webhooks/shares.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** The one document that says which process owns which endpoints; each write of it makes the next version. */
export type ShareTableRow = ShareTable & { _id: "shares"; version: number };

export const webhookShareCollection: CollectionSpec = {
  name: "webhook_shares",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "one document" },
};

export type WebhookShares = ReturnType<typeof webhookShares>;

/** The table of shares: whoever writes it has read what they write over. */
export const webhookShares = (db: Db) => {
  const rows = collectionOf<ShareTableRow>(db, webhookShareCollection);
  const read = () => rows.findOne({ _id: "shares" });
  return {
    /** The table as it is; it is made when there is none. */
    read: async (now: Date): Promise<ShareTableRow> => {
      const found = await read();
      if (found !== null) return found;
      const made = newTable(now);
      return (await insertNew(rows, made)) ? made : ((await read()) ?? made);
    },

    /** Writes the next version; false, and nothing written, when another process has written since `before` was read. */
    replace: async ({ version }: ShareTableRow, table: ShareTable): Promise<boolean> => {
      const next = { ...table, version: version + 1 };
      return (await rows.replaceOne({ _id: "shares", version }, next)).matchedCount === 1;
    },
  };
};

/** Fences begin with the second in which the table is made: above all that endpoints have of one that was lost. */
const newTable = (now: Date): ShareTableRow => {
  const fence = Math.floor(now.getTime() / 1_000);
  return {
    _id: "shares",
    version: 0,
    members: [],
    owners: Array.from({ length: shareCount }, () => ({ holder: null, fence })),
  };
};
