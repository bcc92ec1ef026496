import type { Collection, Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { findIds, type OnPage } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";
import { choiceCollection } from "./choices.ts";
import { chunkCollection } from "./chunks.ts";
import { deliveryCollection } from "./deliveries.ts";
import type { MessageRow, MessageStatus } from "./message-row.ts";
import { settleReserved } from "./settlement.ts";
import { usage } from "./usage.ts";

const page = 500; // messages in one filter: keeps each query's plan an index probe

/**
 * Removes the messages of an app with their chunks and deliveries. Messages that are being sent at this moment are left
 * for a later call, deliveries and all; how many there were. May run twice.
 * @throws what `onPage` throws
 */
export const removeMessages = async (
  db: Db,
  messages: Collection<MessageRow>,
  { appId, now }: { appId: string; now: Date },
  onPage?: OnPage,
): Promise<number> => {
  const parts = [
    { rows: collectionOf<Part>(db, deliveryCollection), hint: "list" },
    { rows: collectionOf<Part>(db, chunkCollection), hint: "position" },
    { rows: collectionOf<Part>(db, choiceCollection), hint: "message" },
  ];
  let busy = 0;
  for (let after = ""; ; ) {
    const ofApp = { app_id: appId, _id: { $gt: after } };
    const ids = await findIds(messages, ofApp, { hint: "list", sort: { _id: 1 }, limit: page });
    const idle = await idleOf(db, messages, ids, now);
    const filter = { message_id: { $in: idle } };
    for (const { rows, hint } of parts) await removePages(rows, { filter, hint, pages: Infinity, onPage });
    await settle(db, messages, idle, now);
    await messages.deleteMany({ _id: { $in: idle } });
    busy += ids.length - idle.length;
    onPage?.(idle.length);
    if (ids.length < page) return busy;
    after = ids.at(-1) ?? "";
  }
};

type Part = { _id: string; message_id: string };

/** Ends the messages that have not ended, and gives back what these had reserved and did not use. */
const settle = async (db: Db, messages: Collection<MessageRow>, ids: readonly string[], now: Date): Promise<void> => {
  const these = { _id: { $in: [...ids] } };
  const isUnended = { status: { $in: ["queued", "processing"] as MessageStatus[] }, reserved: { $ne: null } };
  await messages.updateMany({ ...these, ...isUnended }, ending);
  const unsettled = messages.find({ ...these, unsettled: { $exists: true } }, { projection: settling });
  const settleOne = settleReserved(messages, usage(db));
  for (const row of await unsettled.toArray()) await settleOne(row, now);
};

const unused = { $subtract: ["$reserved.count", { $ifNull: ["$counts.sent", 0] }] };
const ending = [
  { $set: { status: "cancelled", unsettled: unused, lease: null, due_at: null, fence: { $add: ["$fence", 1] } } },
];
const settling = { tenant_id: 1, reserved: 1, unsettled: 1 };

/** Messages that nobody works on: neither they nor a chunk of theirs is leased. */
const idleOf = async (
  db: Db,
  messages: Collection<MessageRow>,
  ids: readonly string[],
  now: Date,
): Promise<string[]> => {
  const isLeased = { "lease.until": { $gt: now } };
  const chunks = collectionOf<Part>(db, chunkCollection).find(
    { message_id: { $in: [...ids] }, ...isLeased },
    { projection: { message_id: 1 } },
  );
  const busy = new Set([
    ...(await findIds(messages, { _id: { $in: [...ids] }, ...isLeased })),
    ...(await chunks.toArray()).map(({ message_id }) => message_id),
  ]);
  return ids.filter((id) => !busy.has(id));
};
