import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type SegmentRow, segmentCollection } from "./segments.ts";

export type SegmentWork = ReturnType<typeof segmentWork>;

/** What jobs read of segments. */
export const segmentWork = (db: Db) => {
  const rows = collectionOf<SegmentRow>(db, segmentCollection);
  return {
    find: (id: string): Promise<SegmentRow | null> => rows.findOne({ _id: id }),
  };
};
