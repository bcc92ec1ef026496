import type { Db } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import type { MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

/** Says which of some ids, 100 at most, are messages of an app. */
export type KnownMessages = (of: OfApp, ids: readonly string[]) => Promise<ReadonlySet<string>>;

export const knownMessages = (db: Db): KnownMessages => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  return async ({ tenantId, appId }, ids) => {
    if (ids.length === 0) return new Set();
    const filter = { _id: { $in: [...ids] }, app_id: appId, tenant_id: tenantId };
    const found = await rows.find(filter, { projection: { _id: 1 }, batchSize: 101, hint: "_id_" }).toArray();
    return new Set(found.map(({ _id }) => _id));
  };
};
