import type { Db } from "mongodb";
import type { channelStatuses } from "../../schema/live-activities/channel.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";

/** One of Apple's broadcast channels, for one activity. As a job it is made, and deleted, at Apple. */
export type ActivityChannelRow = JobRow & {
  type_id: string;
  status: (typeof channelStatuses)[number];
  /** Apple's id, base64; null until it was made. */
  apns_channel_id: string | null;
  /** As callers name the activity that it is used for: never another one's, as devices may have missed its end. */
  activity_id: string | null;
  stores_latest: boolean;
  error: string | null;
  created_at: Date;
  updated_at: Date;
};

export const activityChannelCollection: CollectionSpec = {
  name: "live_activity_channels",
  indexes: [{ key: { app_id: 1, type_id: 1, status: 1, _id: 1 }, name: "type" }, dueIndex],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "type" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it was deleted at Apple" },
};

export type ActivityChannels = ReturnType<typeof activityChannels>;

type OfType = { tenantId: string; appId: string; typeId: string };

const everyId = { $gt: "lac_", $lt: "lac`" }; // "`" follows "_": the two-sided range lets the index sort

export const activityChannels = (db: Db) => {
  const rows = collectionOf<ActivityChannelRow>(db, activityChannelCollection);
  return {
    rows,

    insert: (row: ActivityChannelRow): Promise<boolean> => insertNew(rows, row),

    find: ({ tenantId, appId, typeId }: OfType, id: string): Promise<ActivityChannelRow | null> =>
      rows.findOne({ _id: id, app_id: appId, type_id: typeId, tenant_id: tenantId }),

    /** All of a type, of which an app has 1,000 at most. */
    ofType: ({ tenantId, appId, typeId }: OfType): Promise<ActivityChannelRow[]> =>
      rows.find({ app_id: appId, type_id: typeId, tenant_id: tenantId }, { hint: "type" }).toArray(),

    count: (appId: string, limit: number): Promise<number> => rows.countDocuments({ app_id: appId }, { limit }),

    /** Takes the oldest channel that is ready for an activity, or gives the one that it has. Null when there is none. */
    take: async ({ appId, typeId }: OfType, activityId: string, now: Date): Promise<ActivityChannelRow | null> => {
      const ofType = { app_id: appId, type_id: typeId };
      const own = await rows.findOne({ ...ofType, status: "used", activity_id: activityId });
      return (
        own ??
        rows.findOneAndUpdate(
          { ...ofType, status: "ready", _id: everyId },
          { $set: { status: "used", activity_id: activityId, updated_at: now } },
          { returnDocument: "after", sort: { _id: 1 } },
        )
      );
    },

    /** Has it deleted at Apple from an instant on. */
    remove: async (id: string, at: Date, now: Date): Promise<void> => {
      await rows.updateOne({ _id: id }, { $set: { status: "deleting", due_at: at, updated_at: now } });
    },

    /** Has all of a type deleted. */
    removeOfType: async (appId: string, typeId: string, now: Date): Promise<void> => {
      const deleting = { status: "deleting" as const, due_at: now, updated_at: now };
      await rows.updateMany({ app_id: appId, type_id: typeId }, { $set: deleting });
    },

    /** Forgets one that Apple has no more. */
    drop: async ({ _id, fence }: Pick<ActivityChannelRow, "_id" | "fence">): Promise<void> => {
      await rows.deleteOne({ _id, fence });
    },
  };
};
