import type { AnyBulkWriteOperation, Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { gather } from "../../runtime/batching/gather.ts";
import type { InAppEvent } from "../../schema/in-app-messages/device.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { retryConflicts } from "../mongo/duplicate.ts";

type Counted = InAppEvent["type"];

/** What devices did with one in-app message, by variant and type; `first_…` of those that were a device's first. */
export type InAppCountsRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  variants: Record<string, Partial<Record<Counted | `first_${Counted}`, number>>>;
  expires_at: Date;
};

export const inAppCountsCollection: CollectionSpec = {
  name: "in_app_counts",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "numbers, which name nobody" },
  retention: { index: "retention" },
};

/** Something that a device did with a message. */
export type CountedEvent = OfApp & { messageId: string; variantId: string; type: Counted; isFirst: boolean };

export type InAppCounts = ReturnType<typeof inAppCounts>;

const keptMs = 400 * 86_400_000; // since a device did something with the message, also once that is deleted
const batch = { most: 200, inFlight: 1, isOfTurn: true }; // a message is one document: its writes wait for one another anyway

export const inAppCounts = (db: Db, clock: Clock) => {
  const rows = collectionOf<InAppCountsRow>(db, inAppCountsCollection);
  const write = async (events: readonly CountedEvent[]): Promise<null[]> => {
    const expiresAt = new Date(clock.now().getTime() + keptMs);
    const byMessage = [...Map.groupBy(events, ({ messageId }) => messageId)];
    const changes = byMessage.map(([id, some]) => increment(id, some, expiresAt));
    await retryConflicts(() => rows.bulkWrite(changes, { ordered: false }));
    return events.map(() => null);
  };
  return {
    /** Counted when this resolves; those that come at once in one write. */
    add: gather({ write, ...batch }),

    read: ({ tenantId, appId }: OfApp, messageId: string): Promise<InAppCountsRow | null> =>
      rows.findOne({ _id: messageId, app_id: appId, tenant_id: tenantId }),
  };
};

const increment = (
  _id: string,
  events: readonly CountedEvent[],
  expiresAt: Date,
): AnyBulkWriteOperation<InAppCountsRow> => {
  const [{ tenantId, appId } = { tenantId: "", appId: "" }] = events;
  const $inc: Record<string, number> = {};
  for (const { variantId, type, isFirst } of events)
    for (const name of isFirst ? [type, `first_${type}`] : [type]) {
      const path = `variants.${variantId}.${name}`;
      $inc[path] = ($inc[path] ?? 0) + 1;
    }
  const update = { $inc, $set: { expires_at: expiresAt }, $setOnInsert: { tenant_id: tenantId, app_id: appId } };
  return { updateOne: { filter: { _id }, update, upsert: true } };
};
