import type { Document, Filter, UpdateFilter } from "mongodb";

/** The version of stored data that the first release writes. */
export const firstVersion = 1;

/**
 * What a release changes in documents that are stored. It may be begun many times, by many programs at once; each
 * document is changed once, because one that was changed no longer matches.
 */
export type Migration = {
  /** The version of the stored data that it makes: one more than that before. */
  version: number;
  /** The oldest version whose programs can work with its result. */
  readableFrom: number;
  collection: string;
  /** The documents that are of the shape before. Nobody writes that shape any more: the release before wrote both. */
  before: Filter<Document>;
  change: (document: Document) => UpdateFilter<Document>;
};
