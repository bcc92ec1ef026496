import type { Db, Document, IndexDescription } from "mongodb";
import { idPrefixes } from "../../schema/vocabulary/id-prefixes.ts";
import type { Person } from "../mongo/collection.ts";

/** What says whose a conversation or a message of one is. */
type OfPerson = { _id: string; app_id: string; tenant_id: string; user_id: string; subscription_id: string };

/**
 * By whom conversations are found: the user, and the subscription, which may have been another user's when it was written
 * to.
 */
export const personIndexes: readonly IndexDescription[] = [
  { key: { app_id: 1, user_id: 1 }, name: "person" },
  { key: { app_id: 1, subscription_id: 1 }, name: "subscription" },
];

/** Removes what somebody who is deleted wrote, and was written, also over addresses that are theirs by now. */
export const eraseOfPerson = async (db: Db, collection: string, person: Person): Promise<number> => {
  for (const { filter, hint } of filtersOf(person))
    await db.collection<OfPerson>(collection).deleteMany(filter, { hint });
  return 0;
};

const page = 500; // ids in one filter

/** The documents of a collection that {@link eraseOfPerson} removes. */
export const idsOfPerson = async (db: Db, collection: string, person: WhoseFiles): Promise<string[]> => {
  const ids = new Set<string>();
  for (const { filter, hint } of filtersOf(person))
    for await (const { _id } of db.collection<OfPerson>(collection).find(filter, { projection: { _id: 1 }, hint }))
      ids.add(_id);
  return [...ids];
};

/** The same, so many at a time; an id may come twice. */
export async function* idPagesOfPerson(db: Db, collection: string, person: WhoseFiles): AsyncGenerator<string[]> {
  for (const { filter, hint } of filtersOf(person)) {
    const found = db.collection<OfPerson>(collection).find(filter, { projection: { _id: 1 }, hint, batchSize: page });
    const ids: string[] = [];
    for await (const { _id } of found) {
      ids.push(_id);
      if (ids.length === page) yield ids.splice(0);
    }
    if (ids.length > 0) yield ids;
  }
}

/** The same with all that they have. */
export async function* rowsOfPerson<Row extends OfPerson | Document>(
  db: Db,
  collection: string,
  person: WhoseFiles,
): AsyncGenerator<Row> {
  for (const { filter, hint } of filtersOf(person))
    yield* db.collection<OfPerson>(collection).find(filter, { hint }) as unknown as AsyncIterable<Row>; // its documents
}

type WhoseFiles = Pick<Person, "tenantId" | "appId" | "userId" | "keys">;

/** What finds each document of somebody's once. */
export const filtersOnce = (person: WhoseFiles): { filter: Document; hint: string }[] =>
  filtersOf(person).map(({ filter, hint }) =>
    "subscription_id" in filter ? { filter: { ...filter, user_id: { $ne: person.userId } }, hint } : { filter, hint },
  );

const filtersOf = ({ tenantId, appId, userId, keys }: WhoseFiles) => {
  const of = { app_id: appId, tenant_id: tenantId };
  const subscriptions = [...keys].filter((key) => key.startsWith(`${idPrefixes.subscription}_`));
  const pages = Array.from({ length: Math.ceil(subscriptions.length / page) }, (_, n) => n * page);
  return [
    { filter: { ...of, user_id: userId }, hint: "person" },
    ...pages.map((from) => ({
      filter: { ...of, subscription_id: { $in: subscriptions.slice(from, from + page) } },
      hint: "subscription",
    })),
  ];
};
