import type { Collection, Db } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import type { Spent } from "../../domain/live-activities/budget.ts";
import type { ActivityValues } from "../../schema/live-activities/requests.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import { activityKeptDays } from "./recipient-row.ts";

/**
 * A live activity of an app, on any number of devices. What it was sent are messages (`live_activity.activity`); here is
 * what they share. As a job it is due when an update that was held for a device can be sent, or has been held for too
 * long, and when it ends by itself.
 */
export type LiveActivityRow = JobRow & {
  _id: string;
  type_id: string;
  /** As callers name it; unique in the app. */
  activity_id: string;
  status: "running" | "ended";
  attributes: ActivityValues;
  /** The channels that it was started over: updates and the end go over all of them. Absent: iOS alone. */
  channels?: Channel[];
  /** Then it is over on every device: see docs/reference/live-activities.md#end. */
  ends_at: Date;
  ended_at: Date | null;
  /** The message that ended it, or what else did. */
  ended_by: string | null;
  /** Absent: its updates go to each device's token. */
  channel?: { id: string; apns_channel_id: string; stores_latest: boolean };
  /** Of Apple's budget for its devices; absent until an update went with priority 10. */
  spent?: Spent;
  /** Who is sending an update of it: one at a time, so that no device gets an older one after a newer one. */
  sender: { holder: string; until: Date } | null;
  /** Tells senders apart. */
  turns: number;
  created_at: Date;
  updated_at: Date;
};

export const liveActivityCollection: CollectionSpec = {
  name: "live_activities",
  indexes: [
    { key: { app_id: 1, type_id: 1, status: 1 }, name: "type" },
    { key: { ended_at: 1 }, name: "retention", expireAfterSeconds: activityKeptDays * 86_400 },
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "type" },
  erasure: { kept: "what was sent stays as it was until its retention" },
  retention: { index: "retention" },
};

/** The id of the document of an app's activity. */
export const activityKey = (appId: string, activityId: string): string => derivedId("liveActivity", appId, activityId);

/** When a start that was to send its message is over for certain: a request takes 30 s, and so do its writes at most. */
export const unsentAfter = (now: Date): Date => new Date(now.getTime() + 300_000);

export type Activities = ReturnType<typeof activities>;

/** Who takes a turn at sending, and for how long. */
export type TurnTerm = { holder: string; now: Date; termMs: number };

export const activities = (db: Db) => {
  const rows = collectionOf<LiveActivityRow>(db, liveActivityCollection);
  return {
    ...sending(rows),
    ...lasting(rows),

    /** Stores a new one; false when there is one of this id. */
    insert: (row: LiveActivityRow): Promise<boolean> => insertNew(rows, row),

    find: ({ tenantId, appId }: OfApp, activityId: string): Promise<LiveActivityRow | null> =>
      rows.findOne({ _id: activityKey(appId, activityId), tenant_id: tenantId }),

    byKey: (id: string): Promise<LiveActivityRow | null> => rows.findOne({ _id: id }),

    /** Notes an update of priority 10. Of two at a time one may be forgotten: the budget is a guess anyhow. */
    spend: async (id: string, spent: Spent): Promise<void> => {
      await rows.updateOne({ _id: id }, { $set: { spent } });
    },

    /** Has it looked at by then at the latest. */
    dueBy: async (id: string, at: Date): Promise<void> => {
      await rows.updateOne({ _id: id, $or: [{ due_at: null }, { due_at: { $gt: at } }] }, { $set: { due_at: at } });
    },

    /** How many of a type are running, at most 10,000. */
    countRunning: ({ tenantId, appId }: OfApp, typeId: string): Promise<number> =>
      rows.countDocuments(
        { app_id: appId, type_id: typeId, status: "running", tenant_id: tenantId },
        { limit: 10_000 },
      ),
  };
};

/** How long it runs. */
const lasting = (rows: Collection<LiveActivityRow>) => ({
  /**
   * Notes that it is started over these channels, too, and puts the instant off at which it is over by itself. False when
   * it runs no longer.
   */
  prolong: async (
    id: string,
    channels: readonly Channel[],
    { now, endsAt }: { now: Date; endsAt: Date },
  ): Promise<boolean> => {
    const change = { $max: { ends_at: endsAt }, $addToSet: { channels: { $each: [...channels] } } };
    const { matchedCount } = await rows.updateOne(
      { _id: id, status: "running" },
      { ...change, $set: { updated_at: now } },
    );
    return matchedCount === 1;
  },

  /** Removes one that was never started, unless a start has prolonged it since it was read. */
  removeUnsent: async ({ _id, fence, updated_at }: LiveActivityRow): Promise<boolean> => {
    const { deletedCount } = await rows.deleteOne({ _id, fence, updated_at, status: "running" });
    return deletedCount === 1;
  },

  /** Ends it, unless it has ended. */
  end: async (id: string, by: string, now: Date): Promise<void> => {
    const ended = { status: "ended" as const, ended_by: by, ended_at: now, updated_at: now };
    await rows.updateOne({ _id: id, status: "running" }, { $set: ended });
  },

  /** Ends all of a type. */
  endOfType: async (appId: string, typeId: string, now: Date): Promise<void> => {
    const ended = { status: "ended" as const, ended_by: "type_deleted", ended_at: now, updated_at: now };
    await rows.updateMany({ app_id: appId, type_id: typeId, status: "running" }, { $set: ended });
  },
});

const sending = (rows: Collection<LiveActivityRow>) => ({
  /** Takes the turn to send of this activity; null while another has it. */
  takeTurn: (id: string, { holder, now, termMs }: TurnTerm): Promise<LiveActivityRow | null> =>
    rows.findOneAndUpdate(
      { _id: id, $or: [{ sender: null }, { "sender.until": { $lte: now } }] },
      { $set: { sender: { holder, until: new Date(now.getTime() + termMs) } }, $inc: { turns: 1 } },
      { returnDocument: "after" },
    ),

  /** False when another has the turn by now. */
  extendTurn: async ({ _id, turns }: Turn, now: Date, termMs: number): Promise<boolean> => {
    const until = new Date(now.getTime() + termMs);
    const { matchedCount } = await rows.updateOne(
      { _id, turns, sender: { $ne: null } },
      { $set: { "sender.until": until } },
    );
    return matchedCount === 1;
  },

  endTurn: async ({ _id, turns }: Turn): Promise<void> => {
    await rows.updateOne({ _id, turns }, { $set: { sender: null } });
  },
});

type Turn = Pick<LiveActivityRow, "_id" | "turns">;
