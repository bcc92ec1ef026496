import type { Db, Document } from "mongodb";
import { chunkCollection } from "./messages/chunks.ts";
import { messageCollection } from "./messages/messages.ts";
import { type CollectionSpec, collectionOf } from "./mongo/collection.ts";
import { type TenantRow, tenantCollection } from "./tenants/tenants.ts";
import { webhookCollection } from "./webhooks/webhooks.ts";

const pageRows = 1_000;

export type Suspension = ReturnType<typeof suspension>;

/** Which tenants may not send, and what waits because of it. */
export const suspension = (db: Db) => {
  /** Page by page: one command for all that was held would take as long as there is much. */
  const release = async (spec: CollectionSpec, tenantId: string, change: Document): Promise<void> => {
    const rows = collectionOf<{ _id: string }>(db, spec);
    const held = { suspended_tenant: tenantId };
    for (let found = pageRows; found === pageRows; ) {
      const page = rows
        .find(held, { projection: { _id: 1 }, hint: "suspended_tenant", batchSize: pageRows + 1 })
        .limit(pageRows);
      const ids = (await page.toArray()).map(({ _id }) => _id);
      found = ids.length;
      const update = [{ $set: change }, { $unset: "suspended_tenant" }];
      if (found > 0) await rows.updateMany({ ...held, _id: { $in: ids } }, update);
    }
  };
  return {
    suspendedIds: async (): Promise<string[]> => {
      const rows = collectionOf<TenantRow>(db, tenantCollection);
      const found = rows.find({ suspended: true }, { projection: { _id: 1 }, hint: "suspended" });
      return (await found.toArray()).map(({ _id }) => _id);
    },

    /** Has all that was held for a tenant looked at now; what has ended meanwhile stays ended. */
    release: async (tenantId: string, now: Date): Promise<void> => {
      const due = { due_at: { $cond: [{ $eq: ["$due_at", null] }, null, now] } };
      await release(messageCollection, tenantId, due);
      await release(chunkCollection, tenantId, due);
      await release(webhookCollection, tenantId, { ...due, due_changes: { $add: ["$due_changes", 1] } });
    },
  };
};
