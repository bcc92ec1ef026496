import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type SegmentRow, segmentCollection } from "./segments.ts";

export type SegmentWork = ReturnType<typeof segmentWork>;

type Counted = { count: number; by_channel: Record<string, number>; counted_at: Date };

/** What jobs read of segments, and write into them. */
export const segmentWork = (db: Db) => {
  const rows = collectionOf<SegmentRow>(db, segmentCollection);
  return {
    find: (id: string): Promise<SegmentRow | null> => rows.findOne({ _id: id }),

    /** Writes what was counted; it is no change of the segment. */
    keepCount: async ({ _id }: SegmentRow, counted: Counted): Promise<void> => {
      await rows.updateOne({ _id }, { $set: counted });
    },
  };
};
