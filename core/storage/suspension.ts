import type { Db } from "mongodb";
import { allCollections } from "./collections.ts";
import { type CollectionSpec, collectionOf } from "./mongo/collection.ts";
import { findIds } from "./mongo/pages.ts";
import { type TenantRow, tenantCollection } from "./tenants/tenants.ts";
import { suspendedIndex } from "./work/due.ts";

const pageRows = 1_000;

export type Suspension = ReturnType<typeof suspension>;

/** Which tenants may not send, and what waits because of it. */
export const suspension = (db: Db) => ({
  suspendedIds: (): Promise<string[]> =>
    findIds(collectionOf<TenantRow>(db, tenantCollection), { suspended: true }, { hint: "suspended" }),

  /** Has all that waited for a tenant looked at now; what has ended meanwhile stays ended. */
  release: async (tenantId: string, now: Date): Promise<void> => {
    for (const spec of allCollections)
      if (spec.indexes.includes(suspendedIndex)) await releaseFrom(db, spec, { tenantId, now });
  },
});

/** Page by page: one command for all that waited would take as long as there is much. */
const releaseFrom = async (
  db: Db,
  spec: CollectionSpec,
  { tenantId, now }: { tenantId: string; now: Date },
): Promise<void> => {
  const rows = collectionOf<{ _id: string; suspended_tenant: string }>(db, spec);
  const waiting = { suspended_tenant: tenantId };
  const due = { due_at: { $cond: [{ $eq: ["$due_at", null] }, null, now] } };
  for (let found = pageRows; found === pageRows; ) {
    const ids = await findIds(rows, waiting, { hint: "suspended_tenant", limit: pageRows });
    found = ids.length;
    const update = [{ $set: due }, { $unset: "suspended_tenant" }];
    if (found > 0) await rows.updateMany({ ...waiting, _id: { $in: ids } }, update);
  }
};
