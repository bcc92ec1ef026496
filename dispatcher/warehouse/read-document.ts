import type { Document } from "mongodb";

/** What a dataset is made from, of any collection. */
export type ReadDocument = Document & { _id: string };

/** From `from` on, before `to`. */
export type InWindow = { from: Date; to: Date };
