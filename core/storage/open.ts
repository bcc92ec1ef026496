import { untilReached } from "../runtime/process/awaited.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import { ensureIndexes } from "./collections.ts";
import { migrations } from "./migrations/all.ts";
import { migrate } from "./migrations/migrate.ts";
import { isUnreachable, type Mongo } from "./mongo/connect.ts";

/**
 * Waits until the database can be reached, brings what it holds to the version of this program, and makes the indexes
 * that are missing. @throws DataVersionError, IndexError
 */
export const openDatabase = (mongo: Mongo, log: Log, signal: AbortSignal): Promise<void> => {
  const open = async (): Promise<void> => {
    await mongo.connect();
    await migrate(mongo.db, migrations, { log, signal });
    await ensureIndexes(mongo.db);
  };
  return untilReached(open, { store: "mongodb", isAway: isUnreachable, log }, signal);
};

/** MongoDB, ready for use, and what else is open for the whole run: that is closed first. */
export const storesPart = ({ mongo, log }: { mongo: Mongo; log: Log }, link: { close: () => Promise<void> }): Part => ({
  name: "stores",
  start: (signal) => openDatabase(mongo, log, signal),
  stop: async () => {
    await link.close();
    await mongo.close();
  },
});
