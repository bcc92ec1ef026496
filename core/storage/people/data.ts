import { BSON, type Db, type Document, type Filter, type FindCursor } from "mongodb";
import { type ConversationRow, conversationCollection } from "../conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "../conversations/message-row.ts";
import { type NoteRow, noteCollection } from "../conversations/notes.ts";
import { filtersOnce } from "../conversations/person.ts";
import { type EventRow, eventCollection } from "../events/events.ts";
import { type InAppEventRow, inAppEventCollection } from "../in-app-messages/events.ts";
import { type ShownItem, shownInboxes } from "../inbox/shown.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { readWithin } from "../mongo/read-within.ts";
import type { SuppressionRow } from "../suppressions/suppression-row.ts";
import { suppressionCollection } from "../suppressions/suppressions.ts";
import { type SessionMonthRow, sessionMonthCollection } from "./session-months.ts";

/** A person's documents beside their own and their subscriptions'. */
export type DataOfPerson = {
  events: EventRow[];
  deliveries: DeliveryRow[];
  suppressions: SuppressionRow[];
  in_app_events: InAppEventRow[];
  sessions: SessionMonthRow[];
  inbox: ShownItem[];
  conversations: ConversationRow[];
  conversation_messages: ConversationMessageRow[];
  conversation_notes: NoteRow[];
};

/** Reads what is stored about a person, by the keys that a removal would write down; null when that is more than `mostBytes`. */
export const dataOfPerson = (db: Db) => {
  const shown = inboxOfPerson(db);
  return async (
    of: OfApp,
    keys: readonly string[],
    { mostBytes, now }: { mostBytes: number; now: Date },
  ): Promise<DataOfPerson | null> => {
    const found = cursorsOf(db, of, keys);
    const [inbox, ...all] = await Promise.all([
      shown(of, keys, now),
      ...unbounded.map(async (name) => [name, await whole<Document>(found[name], mostBytes)] as const),
    ]);
    if (all.some(([, rows]) => rows === null)) return null;
    return { ...(Object.fromEntries(all) as Pick<DataOfPerson, Unbounded>), inbox }; // sound: each is of its collection
  };
};

/** Null when it is more than `mostBytes`. */
const whole = async <Row extends Document>(cursors: readonly FindCursor<Row>[], mostBytes: number) => {
  const all: Row[] = [];
  let left = mostBytes;
  for (const found of cursors) {
    const { rows, isWhole } = await readWithin(found, left);
    if (!isWhole) return null;
    all.push(...rows);
    left -= rows.reduce((bytes, row) => bytes + BSON.calculateObjectSize(row), 0);
  }
  return all;
};

/** What a person's inbox shows: a bounded number of items. */
export const inboxOfPerson = (db: Db) => {
  const shown = shownInboxes(db);
  return async (of: OfApp, keys: readonly string[], now: Date): Promise<ShownItem[]> =>
    (await shown(of, ownIds(keys)[0] ?? "", { now })).items; // a merge has made theirs what was another's
};

const ownIds = (keys: readonly string[]): string[] => keys.filter((key) => key.startsWith("usr_"));

/** The same without a bound, in pages of 500 at most, which are read as they are asked for. */
export const pagesOfPerson =
  (db: Db) =>
  (of: OfApp, keys: readonly string[]): { [Name in Unbounded]: AsyncIterable<DataOfPerson[Name]> } => {
    const found = cursorsOf(db, of, keys);
    return {
      events: paged(found.events),
      deliveries: paged(found.deliveries),
      suppressions: paged(found.suppressions),
      in_app_events: paged(found.in_app_events),
      sessions: paged(found.sessions),
      conversations: paged(found.conversations),
      conversation_messages: paged(found.conversation_messages),
      conversation_notes: paged(found.conversation_notes),
    };
  };

const unbounded = [
  "events",
  "deliveries",
  "suppressions",
  "in_app_events",
  "sessions",
  "conversations",
  "conversation_messages",
  "conversation_notes",
] as const;
type Unbounded = (typeof unbounded)[number];

const cursorsOf = (db: Db, { tenantId, appId }: OfApp, keys: readonly string[]) => {
  const of = { app_id: appId, tenant_id: tenantId };
  const userIds = ownIds(keys);
  const person = { $in: [...keys] };
  const sent = { user_id: { $in: userIds }, sent_at: { $gt: longAgo, $lt: farAhead }, ...of };
  const talks = filtersOnce({ tenantId, appId, userId: userIds[0] ?? "", keys: new Set(keys) });
  const talked = <Row extends Document>(spec: CollectionSpec, without: Record<string, 0> = {}): FindCursor<Row>[] =>
    talks.map(({ filter, hint }) =>
      collectionOf<Row>(db, spec).find<Row>({ ...filter, gone: { $ne: true } } as unknown as Filter<Row>, {
        hint,
        projection: without,
      }),
    ); // sound: of these members
  return {
    events: [collectionOf<EventRow>(db, eventCollection).find({ ...of, person }, { hint: "history" })],
    deliveries: [collectionOf<DeliveryRow>(db, deliveryCollection).find(sent, { hint: "sent_to" })],
    suppressions: [
      collectionOf<SuppressionRow>(db, suppressionCollection).find({ ...of, people: person }, { hint: "people" }),
    ],
    in_app_events: [
      collectionOf<InAppEventRow>(db, inAppEventCollection).find(
        { ...of, user_id: { $in: userIds } },
        { hint: "person" },
      ),
    ],
    sessions: [
      collectionOf<SessionMonthRow>(db, sessionMonthCollection).find(
        { ...of, user_id: { $in: userIds } },
        { hint: "user" },
      ),
    ],
    conversations: talked<ConversationRow>(conversationCollection, { appended: 0 }),
    conversation_messages: talked<ConversationMessageRow>(conversationMessageCollection, { words: 0 }),
    conversation_notes: talked<NoteRow>(noteCollection),
  };
};

const pageBytes = 1_000_000; // and a document more

async function* paged<Row extends Document>(cursors: readonly FindCursor<Row>[]): AsyncGenerator<Row[]> {
  for (const found of cursors) yield* pagesIn(found);
}

async function* pagesIn<Row extends Document>(found: FindCursor<Row>): AsyncGenerator<Row[]> {
  let [page, bytes]: [Row[], number] = [[], 0];
  for await (const row of found.batchSize(pageRows)) {
    page.push(row);
    bytes += BSON.calculateObjectSize(row);
    if (page.length < pageRows && bytes < pageBytes) continue;
    yield page;
    [page, bytes] = [[], 0];
  }
  if (page.length > 0) yield page;
}

const pageRows = 500;
