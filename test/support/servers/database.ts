import { type Db, MongoClient } from "mongodb";
import { allCollections, ensureIndexes } from "#core/storage/collections.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import { testServers } from "./servers.ts";

/** A database for the tests of one `describe`, with the indexes of these collections; dropped afterwards. To be made inside of it. */
export const testDatabase = (name: string, specs: readonly CollectionSpec[] = allCollections): (() => Db) => {
  let client: MongoClient;
  let db: Db;
  before(async function () {
    this.timeout(60_000);
    client = await MongoClient.connect((await testServers()).mongodbUrl);
    db = client.db(`test_${name}_${process.pid}`);
    await ensureIndexes(db, specs);
  });
  after(async () => {
    await db?.dropDatabase();
    await client?.close();
  });
  return () => db;
};
