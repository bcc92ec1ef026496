import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import type { SegmentRow } from "./segment-row.ts";
import { segmentCollection } from "./segments.ts";

export type SegmentWork = ReturnType<typeof segmentWork>;

type Counted = {
  count: number;
  by_channel: Record<string, number>;
  counted_at: Date;
} & Pick<SegmentRow, "unknown_tags">;

/** What jobs read of segments, and write into them. */
export const segmentWork = (db: Db) => {
  const rows = collectionOf<SegmentRow>(db, segmentCollection);
  const users = collectionOf<UserRow>(db, userCollection);
  return {
    find: (id: string): Promise<SegmentRow | null> => rows.findOne({ _id: id }),

    /** Whether anybody of an app has a tag. Where nobody has, everybody is read. */
    hasTag: async (appId: string, tag: string): Promise<boolean> => {
      const one = { projection: { _id: 1 }, hint: "app" };
      return (await users.findOne({ app_id: appId, [`tags.${tag}`]: { $exists: true } }, one)) !== null;
    },

    /** Writes what was counted; it is no change of the segment. */
    keepCount: async ({ _id }: SegmentRow, counted: Counted): Promise<void> => {
      await rows.updateOne({ _id }, { $set: counted });
    },
  };
};
