import type { Collection, Db, Document, IndexDescription } from "mongodb";

/** A collection's name and the indexes that its queries need; both stand in its repository's file. */
export type CollectionSpec = {
  name: string;
  indexes: readonly IndexDescription[];
  /** Names of indexes that an earlier release needed and that would be in the way: they are dropped. */
  former?: readonly string[];
};

/** Earlier than any instant of ours: a lower bound, because a partial index is only used for a two-sided range. */
export const longAgo = new Date(0);

export const collectionOf = <Row extends Document>(db: Db, spec: CollectionSpec): Collection<Row> =>
  db.collection<Row>(spec.name);
