import type { Db } from "mongodb";
import { shareCount } from "../../domain/webhooks/shares.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "../webhooks/deliveries.ts";

/** How many deliveries to a tenant's endpoints waited when they were counted last. `_id` is the tenant. */
export type WebhookBacklogRow = { _id: string; waiting: number; counted_at: Date };

export const webhookBacklogCollection: CollectionSpec = {
  name: "webhook_backlogs",
  indexes: [{ key: { counted_at: 1 }, name: "retention", expireAfterSeconds: 86_400 }],
  owner: { kind: "tenant", member: "_id" },
  appRemoval: { kept: "counts of the tenant" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

/** What waits; `at` is null when it was never counted, which is done every half minute. */
export type WebhookBacklog = { waiting: number; at: Date | null };

export type WebhookBacklogs = ReturnType<typeof webhookBacklogs>;

/** The row that says when all were counted. */
const everyone = "*";
const mostOfShare = 20_000; // deliveries that are looked at in each of the 64 shares
const mostTenants = 50_000;
const writeRows = 500;

/** How much waits to be sent to the endpoints of tenants. */
export const webhookBacklogs = (db: Db) => {
  const rows = collectionOf<WebhookBacklogRow>(db, webhookBacklogCollection);
  return {
    count: counting(db),

    /** Keeps what was counted; tenants that are not in it have nothing that waits. */
    keep: async (counts: ReadonlyMap<string, number>, at: Date): Promise<void> => {
      const all = [...counts, [everyone, 0] as const].map(([_id, waiting]) => ({
        updateOne: { filter: { _id }, update: { $set: { waiting, counted_at: at } }, upsert: true },
      }));
      for (let from = 0; from < all.length; from += writeRows)
        await rows.bulkWrite(all.slice(from, from + writeRows), { ordered: true }); // everyone's is the last
      await rows.deleteMany({ counted_at: { $gte: longAgo, $lt: at } });
    },

    ofTenant: async (tenantId: string): Promise<WebhookBacklog> => {
      const found = await rows.find({ _id: { $in: [tenantId, everyone] } }).toArray();
      return {
        waiting: found.find(({ _id }) => _id === tenantId)?.waiting ?? 0,
        at: found.find(({ _id }) => _id === everyone)?.counted_at ?? null,
      };
    },

    /** Of every tenant for which something waits. */
    ofAll: async (): Promise<Map<string, number>> => {
      const found = await rows
        .find({ _id: anyText }, { batchSize: mostTenants + 1 })
        .limit(mostTenants)
        .toArray();
      return new Map(found.flatMap(({ _id, waiting }) => (_id === everyone ? [] : [[_id, waiting]])));
    },
  };
};

/** Counts what waits, by tenant; of each share the first {@link mostOfShare}, so that a flood costs no more. */
const counting = (db: Db) => {
  const deliveries = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);

  /** The first share from one on in which something waits: mostly there is none. */
  const nextShare = async (from: number): Promise<number | null> => {
    const waiting = { share: { $gte: from, $lt: shareCount }, due_at: { $gt: longAgo, $lte: farAhead } };
    const inOrder = { share: 1, endpoint_id: 1, status: 1, due_at: 1 } as const;
    return (
      (await deliveries.findOne(waiting, { projection: { share: 1 }, sort: inOrder, hint: "waiting" }))?.share ?? null
    );
  };
  const countedIn = async (share: number): Promise<{ _id: string; waiting: number }[]> => {
    const waiting = { share, due_at: { $gt: longAgo, $lte: farAhead } };
    const each = [
      { $match: waiting },
      { $limit: mostOfShare },
      { $group: { _id: "$tenant_id", waiting: { $sum: 1 } } },
    ];
    return deliveries
      .aggregate<{ _id: string; waiting: number }>(each, { hint: "waiting", batchSize: mostTenants })
      .toArray();
  };

  return async (stop: AbortSignal): Promise<Map<string, number>> => {
    const counts = new Map<string, number>();
    let share = await nextShare(0);
    while (share !== null && !stop.aborted) {
      for (const { _id, waiting } of await countedIn(share)) counts.set(_id, (counts.get(_id) ?? 0) + waiting);
      share = await nextShare(share + 1);
    }
    return counts;
  };
};
