import type { Collection, Db } from "mongodb";
import type { channelStatuses } from "../../schema/live-activities/channel.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { everyIdOf } from "../mongo/page-range.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import { unsentAfter } from "./activities.ts";

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

export const activityChannels = (db: Db) => {
  const rows = collectionOf<ActivityChannelRow>(db, activityChannelCollection);
  return {
    ...using(rows),

    insert: (row: ActivityChannelRow): Promise<boolean> => insertNew(rows, row),

    find: ({ tenantId, appId, typeId }: OfType, id: string): Promise<ActivityChannelRow | null> =>
      rows.findOne({ _id: id, app_id: appId, type_id: typeId, tenant_id: tenantId }),

    /** All of a type, of which an app has 1,000 at most. */
    ofType: ({ tenantId, appId, typeId }: OfType): Promise<ActivityChannelRow[]> =>
      rows.find({ app_id: appId, type_id: typeId, tenant_id: tenantId }, { hint: "type" }).toArray(),

    count: ({ tenantId, appId }: OfApp, limit: number): Promise<number> =>
      rows.countDocuments({ app_id: appId, tenant_id: tenantId }, { limit }),

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

const using = (rows: Collection<ActivityChannelRow>) => ({
  /**
   * Takes the oldest channel that is ready for an activity, or gives the one that it has. Null when there is none. It is
   * looked at again after the time of a start, and is ready again when the activity does not have it.
   */
  take: async ({ appId, typeId }: OfType, activityId: string, now: Date): Promise<ActivityChannelRow | null> => {
    const ofType = { app_id: appId, type_id: typeId };
    const use = {
      $set: { status: "used" as const, activity_id: activityId, updated_at: now, due_at: unsentAfter(now) },
    };
    const own = { ...ofType, status: "used" as const, activity_id: activityId };
    const ready = { ...ofType, status: "ready" as const, _id: everyIdOf("liveActivityChannel") };
    return (
      (await rows.findOneAndUpdate(own, use, { returnDocument: "after" })) ??
      rows.findOneAndUpdate(ready, use, { returnDocument: "after", sort: { _id: 1 } })
    );
  },

  /** Has it looked at then, whether the activity that it was taken for has it. */
  recheck: async (id: string, at: Date): Promise<void> => {
    await rows.updateOne({ _id: id, status: "used" }, { $set: { due_at: at } });
  },

  /** Gives one back that no activity has; false when it was taken again since it was read. Its job is over with that. */
  giveBack: async ({ _id, fence, updated_at }: ActivityChannelRow, now: Date): Promise<boolean> => {
    const ready = { status: "ready" as const, activity_id: null, updated_at: now, lease: null, due_at: null };
    const { matchedCount } = await rows.updateOne({ _id, fence, updated_at, status: "used" }, { $set: ready });
    return matchedCount === 1;
  },
});
