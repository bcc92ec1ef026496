import type { Db, FindCursor } from "mongodb";
import type { Moment } from "../../domain/analytics/funnel.ts";
import { quarterMs } from "../../domain/durations.ts";
import { type EventRow, eventCollection } from "../events/events.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { monthOf, type SessionMonthRow, sessionMonthCollection } from "../people/session-months.ts";
import { type UserRow, userCollection } from "../people/users.ts";

/** Half-open. */
type Range = { from: Date; to: Date };

/** Somebody who did something for the first time in a range, and the names under which the rest of what they did is stored. */
export type Beginner = { names: readonly string[]; first: Date };

export type Histories = ReturnType<typeof histories>;

const peopleAtOnce = 200; // in one $in, with which the store compares all that it finds

/** Reads what people did, page by page: only jobs do. */
export const histories = (db: Db) => {
  const events = collectionOf<EventRow>(db, eventCollection);
  const users = collectionOf<UserRow>(db, userCollection);
  const sessions = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  return {
    /** Who had an event of a name in a range, each once, as events name people, and when first; pages of at most 200. */
    whoDid: async function* (
      { tenantId, appId }: OfApp,
      name: string,
      { from, to }: Range,
    ): AsyncGenerator<Beginner[]> {
      const filter = { app_id: appId, name, occurred_at: { $gte: from, $lt: to }, tenant_id: tenantId };
      const somebody = { ...filter, person: { $gt: "" } };
      const found = events.aggregate<{ _id: string; first: Date }>(
        [{ $match: somebody }, { $group: { _id: "$person", first: { $min: "$occurred_at" } } }],
        { hint: "list", batchSize: peopleAtOnce * 5 },
      );
      for await (const some of pagesOf(found)) yield some.map(({ _id, first }) => ({ names: [_id], first }));
    },

    /** Who was seen first in a range, in pages of at most 200; each read of the store goes through users of the app. */
    whoCame: async function* ({ tenantId, appId }: OfApp, { from, to }: Range): AsyncGenerator<Beginner[]> {
      const filter = { app_id: appId, _id: { $gt: "" }, first_seen_at: { $gte: from, $lt: to }, tenant_id: tenantId };
      const projection = { first_seen_at: 1, external_id: 1, merged_keys: 1 };
      const found = users.find(filter, { hint: "app", projection, batchSize: peopleAtOnce * 5 });
      for await (const some of pagesOf(found))
        yield some.map((user) => ({ names: namesOf(user), first: user.first_seen_at }));
    },

    /** When people had events of a name, in no order. */
    events: async function* (of: OfApp, names: readonly string[], name: string, range: Range): AsyncGenerator<Did> {
      const projection = { person: 1, occurred_at: 1 };
      const found = events.find(eventsOf(of, names, name, range), { hint: "history", projection });
      for await (const { person = "", occurred_at: at } of found) yield { name: person, at };
    },

    /** When people began sessions, by the quarter of an hour, in no order. */
    sessions: async function* (
      { tenantId, appId }: OfApp,
      names: readonly string[],
      { from, to }: Range,
    ): AsyncGenerator<Did> {
      const month = { $gte: monthOf(from), $lt: to };
      const filter = { app_id: appId, user_id: { $in: [...names] }, month, tenant_id: tenantId };
      for await (const { user_id: name, month: begun, quarters } of sessions.find(filter, { hint: "user" }))
        for (const quarter of quarters) yield { name, at: new Date(begun.getTime() + quarter * quarterMs) };
    },

    /** What each of some people did of several events, one person after another, in the order of time. */
    moments: (of: OfApp, names: readonly string[], events_: readonly string[], range: Range): AsyncGenerator<Met> =>
      merged(
        [...new Set(events_)].map((name) => ({
          name,
          found: events
            .find(eventsOf(of, names, name, range), { hint: "history", projection: { person: 1, occurred_at: 1 } })
            .sort({ person: 1, occurred_at: 1 }),
        })),
      ),
  };
};

/** Under which name of them something is stored, and when it happened. */
export type Did = { name: string; at: Date };

/** A moment of a person. */
export type Met = { person: string; moment: Moment };

const eventsOf = ({ tenantId, appId }: OfApp, names: readonly string[], name: string, { from, to }: Range) => ({
  app_id: appId,
  person: { $in: [...names] },
  name,
  occurred_at: { $gte: from, $lt: to },
  tenant_id: tenantId,
});

const namesOf = ({
  _id,
  external_id: externalId,
  merged_keys: merged = [],
}: Pick<UserRow, "_id" | "external_id" | "merged_keys">): string[] => [
  _id,
  ...(externalId === null ? [] : [`external_id:${externalId}`]),
  ...merged.flatMap(nameOf),
];

const ownLabel = "user_id:";

/** Of a key of a user who was merged: our id without its label. */
const nameOf = (key: string): string[] => {
  if (key.startsWith(ownLabel)) return [key.slice(ownLabel.length)];
  return key.startsWith("external_id:") ? [key] : [];
};

async function* pagesOf<One>(found: AsyncIterable<One>): AsyncGenerator<One[]> {
  let page: One[] = [];
  for await (const one of found) {
    page.push(one);
    if (page.length < peopleAtOnce) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

type Found = FindCursor<Pick<EventRow, "person" | "occurred_at">>;
type Stream = { name: string; found: Found };

/** What several reads find, each in the order of person and time, in this order; what is of one instant together. */
async function* merged(streams: readonly Stream[]): AsyncGenerator<Met> {
  const heads = await Promise.all(streams.map(async ({ name, found }) => ({ name, found, row: await found.next() })));
  try {
    for (;;) {
      const first = heads.reduce<Head | null>(
        (least, { row }) => (row !== null && (least === null || isBefore(row, least)) ? row : least),
        null,
      );
      if (first === null) return;
      const names = new Set(heads.filter(({ row }) => row !== null && !isBefore(first, row)).map(({ name }) => name));
      for (const head of heads) await passBy(head, first);
      yield { person: first.person ?? "", moment: { atMs: first.occurred_at.getTime(), names } };
    }
  } finally {
    await Promise.all(streams.map(({ found }) => found.close()));
  }
}

type Head = Pick<EventRow, "person" | "occurred_at">;

const passBy = async (head: { found: Found; row: Head | null }, at: Head): Promise<void> => {
  while (head.row !== null && !isBefore(at, head.row)) head.row = await head.found.next();
};

const isBefore = (a: Head, b: Head): boolean =>
  a.person === b.person ? a.occurred_at < b.occurred_at : inBytes(a.person).compare(inBytes(b.person)) < 0;

/** The store sorts by bytes, which is not the order of JavaScript's strings. */
const inBytes = (text = ""): Buffer => Buffer.from(text);
