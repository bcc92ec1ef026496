import type { Collection, Db, Document } from "mongodb";
import type { Log } from "../../runtime/process/log.ts";
import { dataVersion, raiseDataVersion } from "./data-version.ts";
import { firstVersion, type Migration } from "./migration.ts";

/** Stored data that this program must not touch. */
export class DataVersionError extends Error {
  override name = "DataVersionError";
}

/**
 * Brings what is stored to the version of this program: the migrations that were not finished yet, in their order. It
 * returns when all is done, whoever did it, and may be aborted or killed at any moment: the next call goes on.
 * @throws DataVersionError when a later release has stored data that this one cannot read, or when documents of an
 *   earlier shape are still being written
 */
export const migrate = async (
  db: Db,
  migrations: readonly Migration[],
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> => {
  const own = migrations.at(-1)?.version ?? firstVersion;
  const { version, readable_from } = await dataVersion(db);
  if (readable_from > own) {
    const needed = `data of version ${version} can be read by programs of version ${readable_from} and later`;
    throw new DataVersionError(`the database holds ${needed}; this one is of version ${own}: run a later release`);
  }
  for (const migration of migrations.filter((one) => one.version > version)) {
    const changed = await changeAll(db.collection(migration.collection), migration, { log, signal });
    await raiseDataVersion(db, { version: migration.version, readable_from: migration.readableFrom });
    log.info({ version: migration.version, collection: migration.collection, changed }, "migration.done");
  }
};

type Run = { log: Log; signal: AbortSignal };

const pageSize = 500;
const mostRounds = 3; // a document may be written in its earlier shape behind the place where a round is
const reportEvery = 100; // pages

/** Returns how many documents this program has changed. */
const changeAll = async (rows: Collection, migration: Migration, run: Run): Promise<number> => {
  let changed = 0;
  for (let round = 0; round < mostRounds; round++) {
    changed += await changeOnce(rows, migration, run);
    if ((await rows.findOne(migration.before, { projection: { _id: 1 } })) === null) return changed;
  }
  const what = `documents of "${migration.collection}" are still written as before version ${migration.version}`;
  throw new DataVersionError(`${what}: stop the programs of the earlier release`);
};

/** Goes through the collection once, in the order of the ids. */
const changeOnce = async (rows: Collection, migration: Migration, { log, signal }: Run): Promise<number> => {
  const { before, collection, version } = migration;
  let changed = 0;
  let after: Document = {};
  for (let page = 1; ; page++) {
    signal.throwIfAborted();
    const found = await rows.find({ $and: [before, after] }, { sort: { _id: 1 }, limit: pageSize }).toArray();
    const last = found.at(-1);
    if (last === undefined) return changed;
    changed += await changePage(rows, migration, found);
    if (page % reportEvery === 0) log.info({ version, collection, changed }, "migration.progress");
    after = { _id: { $gt: last._id } };
  }
};

const changePage = async (
  rows: Collection,
  { before, change }: Migration,
  page: readonly Document[],
): Promise<number> => {
  const writes = page.map((document) => ({
    updateOne: { filter: { $and: [{ _id: document["_id"] }, before] }, update: change(document) },
  }));
  return (await rows.bulkWrite(writes, { ordered: false })).modifiedCount;
};
