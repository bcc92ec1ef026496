import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { type DeletedPerson, erasedBody, erasedSubject } from "../../domain/people/erased.ts";
import { peopleOf } from "../../domain/people/keys.ts";
import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { type EventBatchRow, eventBatchCollection } from "../events/batches.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { peopleIn, storedPeople, type WebhookDeliveryRow, webhookDeliveryCollection } from "./deliveries.ts";

/** Whose traces are erased. `userId` marks what was erased until `isLast`, so that the next pass finds it. */
export type Erasure = DeletedPerson & { appId: string; userId: string; isLast: boolean };

export type WebhookErasure = ReturnType<typeof webhookErasure>;

/** What of the history of webhooks goes when somebody is removed. Every verb may run twice. */
export const webhookErasure = (db: Db) => {
  const deliveries = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
  const batches = collectionOf<EventBatchRow>(db, eventBatchCollection);
  return {
    /**
     * Erases a person from the deliveries of his app: what waits to be sent is still sent, erased. Only the news that he
     * was deleted keeps his ids until it has been told: how many such deliveries wait is returned.
     * @throws the reason of `signal` when it aborts, between pages
     */
    erase: (erasure: Erasure, signal?: AbortSignal): Promise<number> => eraseAll(deliveries, erasure, signal),

    /** Erases a person from events that came in before and still wait to be published; as a rule there are none. */
    eraseWaiting: (erasure: Erasure): Promise<void> => eraseBatches(batches, erasure),

    /**
     * Removes the deliveries of an app.
     * @throws the reason of `signal` when it aborts, between pages
     */
    removeOfApp: (appId: string, signal?: AbortSignal): Promise<void> => removeAll(deliveries, appId, signal),
  };
};

type Deliveries = Collection<WebhookDeliveryRow>;

const pageRows = 100; // 6.4 MB of payloads at most
const pageIds = 10_000;

const eraseAll = async (rows: Deliveries, erasure: Erasure, signal?: AbortSignal): Promise<number> => {
  let waiting = 0;
  let ids = await idsAfter(rows, erasure, "");
  while (ids.length > 0) {
    for (let from = 0; from < ids.length; from += pageRows) {
      signal?.throwIfAborted();
      waiting += await erasePage(rows, erasure, ids.slice(from, from + pageRows));
    }
    ids = ids.length < pageIds ? [] : await idsAfter(rows, erasure, ids.at(-1) ?? "");
  }
  return waiting;
};

/** The ids first: the rows are written while they are gone through. */
const idsAfter = async (rows: Deliveries, { appId, keys }: Erasure, after: string): Promise<string[]> => {
  const found = rows
    .find(
      { app_id: appId, people: { $in: [...keys] }, _id: { $gt: after } },
      { projection: { _id: 1 }, hint: "people" },
    )
    .sort({ _id: 1 })
    .limit(pageIds)
    .batchSize(pageIds + 1);
  return (await found.toArray()).map(({ _id }) => _id);
};

const members = { payload: 1, people: 1, subject_id: 1, event_type: 1, due_at: 1 } as const;

type Read = Pick<WebhookDeliveryRow, "_id" | keyof typeof members>;

/** How many of a page tell that the person was deleted, and wait to be sent. */
const erasePage = async (rows: Deliveries, erasure: Erasure, ids: readonly string[]): Promise<number> => {
  const page = await rows.find({ _id: { $in: [...ids] } }, { projection: members, batchSize: pageRows + 1 }).toArray();
  const changes = page.filter((row) => !isNews(row)).flatMap((row) => erasing(row, erasure));
  if (changes.length > 0) await rows.bulkWrite(changes, { ordered: false });
  return page.filter(isNews).length;
};

const isNews = ({ event_type, due_at }: Read): boolean => event_type === "user.deleted" && due_at !== null;

const erasing = (row: Read, erasure: Erasure): AnyBulkWriteOperation<WebhookDeliveryRow>[] => {
  const body = erasedBody({ text: row.payload, people: peopleIn(row.people) }, erasure);
  if (body === null) return [];
  const set = {
    payload: body.text,
    subject_id: erasedSubject(row.subject_id, erasure),
    people: storedPeople(erasure.isLast ? body.people : [...body.people, erasure.userId]),
    "attempts.$[].response_body_excerpt": null,
    "attempts.$[].error": null,
  };
  return [{ updateOne: { filter: { _id: row._id }, update: { $set: set } } }];
};

const eraseBatches = async (rows: Collection<EventBatchRow>, { appId, ...who }: Erasure): Promise<void> => {
  const waiting = { due_at: { $gt: longAgo, $lt: forever }, app_id: appId, created_at: { $lte: who.at } };
  const found = await rows
    .find(waiting, { projection: { _id: 1 } })
    .limit(pageIds)
    .toArray();
  for (const { _id } of found) {
    const batch = await rows.findOne({ _id });
    const texts = batch?.events.flatMap(({ text }, i) => erasingText(text, i, who)) ?? [];
    if (texts.length > 0) await rows.updateOne({ _id }, { $set: Object.fromEntries(texts) });
  }
};

const erasingText = (text: string, index: number, who: DeletedPerson): [string, string][] => {
  const people = peopleOf(JSON.parse(text) as EventEnvelope); // sound: we wrote it
  const body = erasedBody({ text, people }, who);
  return body === null ? [] : [[`events.${index}.text`, body.text]];
};

const forever = new Date("9999-12-31T23:59:59Z");
const removedRows = 500; // others' writes come between

const removeAll = async (rows: Deliveries, appId: string, signal?: AbortSignal): Promise<void> => {
  for (;;) {
    signal?.throwIfAborted();
    const page = await rows
      .find({ app_id: appId }, { projection: { _id: 1 }, hint: "people" })
      .limit(removedRows)
      .batchSize(removedRows)
      .toArray();
    if (page.length === 0) return;
    await rows.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
  }
};
