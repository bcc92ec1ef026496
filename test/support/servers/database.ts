import { randomBytes } from "node:crypto";
import { type Db, MongoClient } from "mongodb";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { allCollections, ensureIndexes } from "#core/storage/collections.ts";
import { noteIndexes } from "#core/storage/known-indexes.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import { testServers } from "./servers.ts";

/** A database that nobody else uses, with every collection, empty, and all indexes. */
export type LentDatabase = {
  db: Db;
  client: MongoClient;
  /** To be called once nothing uses it any more: the next who asks the same server, in whatever process, gets it. */
  giveBack: () => Promise<void>;
};

/** The databases of a server that were given back. */
const freeOf = (client: MongoClient) => client.db("test_lent").collection<{ _id: string }>("free");

/**
 * Lends a database of a server. To make one costs most of a second of processor time (each collection with its indexes),
 * to empty one a tenth of that. They end with the servers of the tests, which keep nothing. Who changes an index of one
 * puts it back; a collection may be dropped.
 */
export const lendDatabase = async (url: string): Promise<LentDatabase> => {
  const client = await MongoClient.connect(url);
  const free = freeOf(client);
  const taken = await free.findOneAndDelete({});
  const db = client.db(taken?._id ?? `test_${randomBytes(6).toString("hex")}`);
  if (!(await empty(db))) await ensureIndexes(db);
  await noteIndexes(db, new Date()); // programs need not look
  const giveBack = async (): Promise<void> => {
    await free.insertOne({ _id: db.databaseName });
    await client.close();
  };
  return { db, client, giveBack };
};

/** Whether all collections were there, which are empty now. */
const empty = async (db: Db): Promise<boolean> => {
  const known = new Set(allCollections.map(({ name }) => name));
  const there = await db.listCollections({}, { nameOnly: true }).toArray();
  await mapBounded<{ name: string }, unknown>(there, connections, ({ name }) =>
    known.has(name) ? db.collection(name).deleteMany({}) : db.dropCollection(name),
  );
  return there.filter(({ name }) => known.has(name)).length === known.size;
};

const connections = 4; // each that is opened costs as much as several calls

/** A database for the tests of one `describe`, with the indexes of these collections. To be made inside of it. */
export const testDatabase = (name: string, specs: readonly CollectionSpec[] = allCollections): (() => Db) => {
  const of =
    specs === allCollections ? lendDatabase : (url: string) => ownDatabase(url, `test_${name}_${process.pid}`, specs);
  let lent: LentDatabase | undefined;
  before(async () => {
    lent = await of((await testServers()).mongodbUrl);
  });
  after(() => lent?.giveBack());
  return () => {
    if (lent === undefined) throw new Error(`the database ${name} is there once the hooks before the tests have run`);
    return lent.db;
  };
};

/** One with other collections, which is dropped. */
const ownDatabase = async (url: string, name: string, specs: readonly CollectionSpec[]): Promise<LentDatabase> => {
  const client = await MongoClient.connect(url);
  const db = client.db(name);
  await ensureIndexes(db, specs);
  const giveBack = async (): Promise<void> => {
    await db.dropDatabase();
    await client.close();
  };
  return { db, client, giveBack };
};
