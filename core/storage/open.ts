import type { Partitioning } from "../domain/webhooks/partitions.ts";
import { untilReached } from "../runtime/process/awaited.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import { checkKeys } from "./keys/check.ts";
import type { Kids } from "./keys/uses.ts";
import { ensureKnownIndexes } from "./known-indexes.ts";
import { migrations } from "./migrations/all.ts";
import { migrate } from "./migrations/migrate.ts";
import { isUnreachable, type Mongo } from "./mongo/connect.ts";
import { checkPartitions } from "./webhooks/owners.ts";

export type StoresDeps = { mongo: Mongo; log: Log; kids: Kids; partitioning: Pick<Partitioning, "count"> };

/**
 * Waits until the database can be reached, brings what it holds to the version of this program, and makes the indexes
 * that are missing. Refuses to work without a key that still seals something, and with other partitions than it was made with.
 * @throws DataVersionError, IndexError, MissingKeyError, PartitionsError
 */
export const openDatabase = ({ mongo, log, kids, partitioning }: StoresDeps, signal: AbortSignal): Promise<void> => {
  const open = async (): Promise<void> => {
    await mongo.connect();
    await migrate(mongo.db, migrations, { log, signal });
    await ensureKnownIndexes(mongo.db, new Date());
    await checkKeys(mongo.db, kids);
    await checkPartitions(mongo.db, partitioning);
  };
  return untilReached(open, { store: "mongodb", isAway: isUnreachable, log }, signal);
};

/** MongoDB, ready for use, and what else is open for the whole run: that is closed first. */
export const storesPart = (deps: StoresDeps, link: { close: () => Promise<void> }): Part => ({
  name: "stores",
  start: (signal) => openDatabase(deps, signal),
  stop: async () => {
    await link.close();
    await deps.mongo.close();
  },
});
