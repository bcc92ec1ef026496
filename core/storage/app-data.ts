import type { Collection, Db } from "mongodb";
import { chunkCollection } from "./chunks.ts";
import { type CollectionSpec, collectionOf } from "./collection.ts";
import { deliveryCollection } from "./deliveries.ts";
import { type MessageRow, type MessageStatus, messageCollection } from "./messages.ts";
import { subscriptionCollection } from "./subscription-row.ts";
import { usage } from "./usage.ts";
import { userCollection } from "./users.ts";

export type AppData = ReturnType<typeof appData>;

const page = 100; // at most a hundred documents are named in a filter, as in retention.ts
const peoplePage = 1_000;

/** What an app leaves behind when it is removed, beside its history of webhooks. Every verb may run twice. */
export const appData = (db: Db) => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const parts = [deliveryCollection, chunkCollection].map((spec) => collectionOf<Part>(db, spec));
  return {
    /**
     * Removes users, subscriptions, messages and their deliveries. Messages that are being sent at this moment are left
     * for a later call, deliveries and all; how many there were.
     * @throws the reason of `signal` when it aborts, between pages
     */
    remove: async (appId: string, now: Date, signal?: AbortSignal): Promise<number> => {
      await removeAll(db, subscriptionCollection, { appId, hint: "user", signal });
      await removeAll(db, userCollection, { appId, hint: "app", signal });
      let busy = 0;
      for (let after = ""; ; ) {
        signal?.throwIfAborted();
        const ids = await idsAfter(messages, appId, after);
        const idle = await idleOf(db, ids, now);
        for (const rows of parts) await rows.deleteMany({ message_id: { $in: idle } });
        await removeUnended(db, messages, idle);
        await messages.deleteMany({ _id: { $in: idle } });
        busy += ids.length - idle.length;
        if (ids.length < page) return busy;
        after = ids.at(-1) ?? "";
      }
    },
  };
};

type Part = { _id: string; message_id: string };

const removeAll = async (
  db: Db,
  spec: CollectionSpec,
  { appId, hint, signal }: { appId: string; hint: string; signal: AbortSignal | undefined },
): Promise<void> => {
  const rows = collectionOf<{ _id: string; app_id: string }>(db, spec);
  for (;;) {
    signal?.throwIfAborted();
    const found = rows.find({ app_id: appId }, { projection: { _id: 1 }, hint }).limit(peoplePage);
    const ids = (await found.toArray()).map(({ _id }) => _id);
    if (ids.length > 0) await rows.deleteMany({ _id: { $in: ids } });
    if (ids.length < peoplePage) return;
  }
};

/** Removes the messages that have not ended, and gives back what they had reserved and did not use. */
const removeUnended = async (db: Db, messages: Collection<MessageRow>, ids: readonly string[]): Promise<void> => {
  const { giveBack } = usage(db);
  const isUnended = { status: { $in: ["queued", "processing"] as MessageStatus[] } };
  const found = messages.find({ _id: { $in: [...ids] }, ...isUnended }, { projection: { content: 0, target: 0 } });
  for (const { _id, tenant_id, reserved, counts } of await found.toArray()) {
    const { deletedCount } = await messages.deleteOne({ _id, ...isUnended });
    if (deletedCount === 1 && reserved !== null)
      await giveBack(tenant_id, reserved, reserved.count - (counts.sent ?? 0));
  }
};

const idsAfter = async (rows: Collection<MessageRow>, appId: string, after: string): Promise<string[]> => {
  const found = rows.find({ app_id: appId, _id: { $gt: after } }, { projection: { _id: 1 }, hint: "list" });
  return (await found.sort({ _id: 1 }).limit(page).toArray()).map(({ _id }) => _id);
};

/** Messages that nobody works on: neither they nor a chunk of theirs is leased. */
const idleOf = async (db: Db, ids: readonly string[], now: Date): Promise<string[]> => {
  const isHeld = { "lease.until": { $gt: now } };
  const held = { _id: { $in: [...ids] }, ...isHeld };
  const messages = collectionOf<MessageRow>(db, messageCollection).find(held, { projection: { _id: 1 } });
  const chunks = collectionOf<Part>(db, chunkCollection).find(
    { message_id: { $in: [...ids] }, ...isHeld },
    { projection: { message_id: 1 } },
  );
  const busy = new Set([
    ...(await messages.toArray()).map(({ _id }) => _id),
    ...(await chunks.toArray()).map(({ message_id }) => message_id),
  ]);
  return ids.filter((id) => !busy.has(id));
};
