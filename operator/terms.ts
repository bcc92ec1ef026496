import type { Db } from "mongodb";
import type { Log } from "#core/runtime/log.ts";
import { apiKeyCollection } from "#core/storage/api-keys.ts";
import { appCollection } from "#core/storage/apps.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/collection.ts";
import { liveActivityTypeCollection } from "#core/storage/live-activity-types.ts";
import { type ManagedRow, orphans, stampEpoch } from "#core/storage/managed.ts";
import { planCollection } from "#core/storage/plans.ts";
import { tenantCollection } from "#core/storage/tenants.ts";
import { webhookCollection } from "#core/storage/webhooks.ts";
import type { Announce } from "./controllers/common.ts";

/** What a term does to the documents as a whole (docs/decisions/0051). */
export type Terms = {
  /** The highest epoch that a document bears; 0 when there is none. */
  highestEpoch: () => Promise<number>;
  /** Makes every managed document one of this term. */
  stamp: (epoch: number) => Promise<void>;
  /** Removes what a deposed leader inserted for a resource that is gone, and tells of other documents without one. */
  sweep: (epoch: number, isKnown: (uid: string) => boolean) => Promise<void>;
};

const managed: readonly CollectionSpec[] = [
  planCollection,
  tenantCollection,
  appCollection,
  apiKeyCollection,
  webhookCollection,
  liveActivityTypeCollection,
];

const each = <T>(act: (spec: CollectionSpec) => Promise<T>): Promise<T[]> => Promise.all(managed.map(act));

export const terms = ({ db, announce, log }: { db: Db; announce: Announce; log: Log }): Terms => {
  const rowsOf = (spec: CollectionSpec) => collectionOf<ManagedRow>(db, spec);

  const highestOf = async (spec: CollectionSpec): Promise<number> => {
    const options = { sort: { "managed.epoch": -1 }, projection: { managed: 1 } } as const;
    const row = await rowsOf(spec).findOne({ "managed.epoch": { $gt: 0 } }, options);
    return row?.managed?.epoch ?? 0;
  };

  const sweepOne = async (spec: CollectionSpec, epoch: number, isKnown: (uid: string) => boolean): Promise<void> => {
    const rows = rowsOf(spec);
    for (const { id, managed: by } of await orphans(rows, isKnown)) {
      const { kind, namespace, name, uid } = by;
      const isLate = by.epoch < epoch; // everything that was there when the term began bears its epoch
      const mine = { _id: id, "managed.uid": uid, "managed.epoch": by.epoch };
      const isRemoved = isLate && (await rows.deleteOne(mine)).deletedCount === 1;
      if (isRemoved) announce(spec.name, id);
      log.warn({ kind, namespace, name, id }, isRemoved ? "row.removed" : "row.orphaned");
    }
  };

  return {
    highestEpoch: async () => Math.max(...(await each(highestOf))),
    stamp: async (epoch) => void (await each((spec) => stampEpoch(rowsOf(spec), epoch))),
    sweep: async (epoch, isKnown) => void (await each((spec) => sweepOne(spec, epoch, isKnown))),
  };
};
