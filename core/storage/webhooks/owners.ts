import type { Db } from "mongodb";
import type { OwnerTable } from "../../domain/webhooks/owners.ts";
import type { Partitioning } from "../../domain/webhooks/partitions.ts";
import { shareCount } from "../../domain/webhooks/shares.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** One document that processes write in turn; each write makes the next version. */
type Versioned = { version: number };

/**
 * Which process owns which partition. `serves`: owners also serve endpoints, under their fence on top of `base`; else they
 * only read events, as the last release serves.
 */
export type PartitionTableRow = OwnerTable & Versioned & { _id: "partitions"; base: number; serves: boolean };

/** The last release's: which of its processes owns which share of the endpoints. */
export type FormerTableRow = OwnerTable & Versioned & { _id: "shares" };

export const webhookOwnerCollection: CollectionSpec = {
  name: "webhook_shares",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "two documents" },
};

export type WebhookOwners = ReturnType<typeof webhookOwners>;

/** The tables of owners: whoever writes one has read what they write over. */
export const webhookOwners = (db: Db, { count }: Pick<Partitioning, "count">) => ({
  partitions: table<PartitionTableRow>(db, "partitions", (now) => ({
    _id: "partitions",
    ...emptyTable(count, now),
    base: 0,
    serves: false,
  })),
  former: table<FormerTableRow>(db, "shares", (now) => ({ _id: "shares", ...emptyTable(shareCount, now) })),
});

/** An installation has other partitions than a program was told. */
export class PartitionsError extends Error {
  override readonly name = "PartitionsError";
}

/**
 * Settles how many partitions an installation has, when it is made: what publishers name, owners must read.
 * @throws PartitionsError when it was made with another number
 */
export const checkPartitions = async (db: Db, { count }: Pick<Partitioning, "count">): Promise<void> => {
  const { owners } = await webhookOwners(db, { count }).partitions.read(new Date());
  if (owners.length !== count)
    throw new PartitionsError(
      `HERALD_EVENT_PARTITIONS is ${count}, and this installation was made with ${owners.length}: that cannot be changed`,
    );
};

export type OwnerTables<Row extends OwnerTable & Versioned> = {
  /** The table as it is; it is made when there is none. */
  read: (now: Date) => Promise<Row>;
  /** Has a member beat, which makes the next version, and reads that; null when `holder` is no member. */
  beat: (holder: string) => Promise<Row | null>;
  /** Writes the next version; false, and nothing written, when another process has written since `before` was read. */
  replace: (before: Row, after: Omit<Row, "_id" | "version">) => Promise<boolean>;
};

const table = <Row extends OwnerTable & Versioned & { _id: string }>(
  db: Db,
  id: Row["_id"],
  make: (now: Date) => Row,
): OwnerTables<Row> => {
  type Stored = OwnerTable & Versioned & { _id: string };
  const rows = collectionOf<Stored>(db, webhookOwnerCollection);
  const read = async () => (await rows.findOne({ _id: id })) as Row | null; // only `make` and `replace` write it
  return {
    read: async (now) => {
      const found = await read();
      if (found !== null) return found;
      const made = make(now);
      return (await insertNew(rows, made)) ? made : ((await read()) ?? made);
    },
    beat: async (holder) => {
      const isMember = { _id: id, "members.holder": holder };
      const nextBeat = { $inc: { "members.$.beat": 1, version: 1 } };
      return (await rows.findOneAndUpdate(isMember, nextBeat, { returnDocument: "after" })) as Row | null; // as `read`
    },
    replace: async ({ version }, after) =>
      (await rows.replaceOne({ _id: id, version }, { ...after, version: version + 1 })).matchedCount === 1,
  };
};

/** Fences begin with the second in which the table is made: above all that endpoints have of one that was lost. */
const emptyTable = (parts: number, now: Date): OwnerTable & Versioned => {
  const fence = Math.floor(now.getTime() / 1_000);
  return { version: 0, members: [], owners: Array.from({ length: parts }, () => ({ holder: null, fence })) };
};
