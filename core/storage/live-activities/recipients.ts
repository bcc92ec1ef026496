import type { Collection, Db, Filter } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { anyText, idsBehind } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import {
  type ActivityRecipientRow,
  activityRecipientCollection,
  type RecipientState,
  recipientId,
} from "./recipient-row.ts";

/** How long an update waits for a device's token. Source: docs/reference/live-activities.md#held-updates. */
export const holdMs = 600_000;

const page = 500; // ids in one filter

/** An activity, by the id of its document: on devices of one channel, or of all. */
export type OfActivity = { appId: string; activity: string; channel?: Channel };

/** How many devices are in which state. */
export type DeviceStates = Partial<Record<RecipientState, number>>;

export type ActivityRecipients = ReturnType<typeof activityRecipients>;

export const activityRecipients = (db: Db) => {
  const rows = collectionOf<ActivityRecipientRow>(db, activityRecipientCollection);
  return {
    ...starting(rows),
    ...holding(rows),
    ...tokens(rows),

    /** Those of some subscriptions, by subscription. */
    of: (activity: string, subscriptionIds: readonly string[]) => of(rows, activity, subscriptionIds),

    /** Ids of the subscriptions of a channel that updates go to, in their order, behind one. */
    page: async (
      { appId, activity, channel }: Required<OfActivity>,
      after: string,
      limit: number,
    ): Promise<string[]> => {
      const among = { subscription_id: idsBehind("subscription", after), state: reached };
      const found = rows.find(
        { app_id: appId, activity, ...onChannel(channel), ...among },
        { projection: { subscription_id: 1 }, batchSize: limit + 1 },
      );
      return (await found.sort({ subscription_id: 1 }).limit(limit).toArray()).map((row) => row.subscription_id);
    },

    /** How many of one channel, or of all, are in which state; of more devices than `most` so many are looked at. */
    tally: async ({ appId, activity, channel }: OfActivity, most: number): Promise<DeviceStates> => {
      const groups = await rows
        .aggregate<{ _id: RecipientState; count: number }>([
          { $match: { app_id: appId, activity, ...(channel && onChannel(channel)) } },
          { $limit: most },
          { $group: { _id: "$state", count: { $sum: 1 } } },
        ])
        .toArray();
      return Object.fromEntries(groups.map(({ _id, count }) => [_id, count]));
    },
  };
};

/** Devices of one channel: those of iOS are found among all, the others in an index of their own. */
const onChannel = (channel: Channel): Filter<ActivityRecipientRow> =>
  channel === "ios_push" ? { channel: { $exists: false } } : { channel: { ...isOther, $eq: channel } };

const isOther = { $gt: "" as Channel }; // a text like any: what makes the index of others apply

const reached = { $in: ["starting", "active"] as RecipientState[] };

type Rows = Collection<ActivityRecipientRow>;

const of = async (rows: Rows, activity: string, subscriptionIds: readonly string[]) => {
  const ids = subscriptionIds.map((id) => recipientId(activity, id));
  const found = await inPages(ids, page, (some) =>
    rows.find({ _id: { $in: some } }, { batchSize: page + 1 }).toArray(),
  );
  return new Map(found.map((row) => [row.subscription_id, row]));
};

type Device = Pick<SubscriptionRow, "_id">;
type Starting = {
  tenantId: string;
  appId: string;
  activity: string;
  channel: Channel;
  messageId: string;
  now: Date;
};

/** Android has no token of an activity that a device would have to report first. */
const stateAtStart = (channel: Channel): RecipientState => (channel === "ios_push" ? "starting" : "active");

const starting = (rows: Rows) => ({
  /**
   * Writes down that a message starts the activity on these devices, before it does; gives those that are its to start,
   * now or in an earlier run. Where it was lost or never started it may be started again.
   */
  claim: async (start: Starting, devices: readonly Device[]): Promise<Set<string>> => {
    const made = devices.map((device) => recipientOf(start, device));
    const known = made.length === 0 ? new Set<string>() : await insertMissing(rows, made);
    if (known.size === 0) return new Set(devices.map(({ _id }) => _id));
    const { messageId, now } = start;
    const anew = { state: stateAtStart(start.channel), token: null, start_message_id: messageId, updated_at: now };
    const mayRestart = { state: { $in: ["lost", "failed"] as RecipientState[] }, start_message_id: { $ne: messageId } };
    await rows.updateMany(
      { _id: { $in: [...known] }, ...mayRestart },
      { $set: { ...anew, hold_until: new Date(now.getTime() + holdMs), held_message_id: null } },
    );
    const current = await of(
      rows,
      start.activity,
      devices.map(({ _id }) => _id),
    );
    return new Set(
      [...current.values()].flatMap((row) => (row.start_message_id === messageId ? row.subscription_id : [])),
    );
  },

  /** Notes that a message did not start it there. */
  fail: async (activity: string, messageId: string, subscriptionIds: readonly string[], now: Date): Promise<void> => {
    if (subscriptionIds.length === 0) return;
    const ids = subscriptionIds.map((id) => recipientId(activity, id));
    await rows.updateMany(
      { _id: { $in: ids }, start_message_id: messageId, state: reached, token: null },
      { $set: { state: "failed", updated_at: now } },
    );
  },
});

const recipientOf = (
  { tenantId, appId, activity, channel, messageId, now }: Starting,
  { _id }: Device,
): ActivityRecipientRow => ({
  _id: recipientId(activity, _id),
  tenant_id: tenantId,
  app_id: appId,
  subscription_id: _id,
  ...(channel !== "ios_push" && { channel }),
  activity,
  state: stateAtStart(channel),
  token: null,
  start_message_id: messageId,
  hold_until: new Date(now.getTime() + holdMs),
  held_message_id: null,
  created_at: now,
  updated_at: now,
});

const holding = (rows: Rows) => ({
  /** Has an update wait for the tokens of those devices that have none, unless a newer one does. */
  hold: async (ids: readonly string[], messageId: string, now: Date): Promise<void> => {
    const isOlder = { $or: [{ held_message_id: null }, { held_message_id: { $lt: messageId } }] };
    await rows.updateMany(
      { _id: { $in: [...ids] }, token: null, state: "starting", ...isOlder },
      { $set: { held_message_id: messageId, updated_at: now } },
    );
  },

  /** Forgets that an update waited there. */
  release: async (ids: readonly string[], messageId: string): Promise<void> => {
    if (ids.length > 0)
      await rows.updateMany(
        { _id: { $in: [...ids] }, held_message_id: messageId },
        { $set: { held_message_id: null } },
      );
  },

  /** Devices that have reported their tokens, and that an update waits for; at most `limit`. */
  ready: (activity: string, limit: number): Promise<ActivityRecipientRow[]> =>
    rows.find({ activity, held_message_id: anyText, token: anyText }).limit(limit).toArray(),

  /** Devices without a token that an update has waited for until `now`; at most `limit`. */
  late: (activity: string, now: Date, limit: number): Promise<ActivityRecipientRow[]> =>
    rows
      .find({ activity, held_message_id: anyText, token: null, hold_until: { $lte: now } })
      .limit(limit)
      .toArray(),

  /** Until when an update waits for one of the devices without a token; null when for none. */
  waitsUntil: async (activity: string): Promise<Date | null> => {
    const row = await rows.findOne({ activity, held_message_id: anyText, token: null });
    return row?.hold_until ?? null;
  },
});

type Reported = { subscription: SubscriptionRow; activity: string; token: string; now: Date };

const tokens = (rows: Rows) => ({
  /** Stores the token that a device reported; gives the device as it is then. */
  putToken: async ({ subscription, activity, token, now }: Reported): Promise<ActivityRecipientRow | null> => {
    const { _id: subscriptionId, tenant_id, app_id } = subscription;
    return rows.findOneAndUpdate(
      { _id: recipientId(activity, subscriptionId) },
      {
        $set: { token, state: "active", updated_at: now },
        $setOnInsert: {
          tenant_id,
          app_id,
          subscription_id: subscriptionId,
          activity,
          start_message_id: null,
          hold_until: now,
          held_message_id: null,
          created_at: now,
        },
      },
      { upsert: true, returnDocument: "after" },
    );
  },

  /** Whose token this is, of which activity. */
  byToken: ({ tenantId, appId }: OfApp, token: string): Promise<ActivityRecipientRow | null> =>
    rows.findOne({ app_id: appId, token: { $gt: "", $eq: token }, tenant_id: tenantId }),

  /** Notes that these tokens are gone, unless others were reported since. */
  lose: async (
    activity: string,
    lost: readonly { subscriptionId: string; token: string }[],
    now: Date,
  ): Promise<void> => {
    if (lost.length === 0) return;
    const writes = lost.map(({ subscriptionId, token }) => ({
      updateOne: {
        filter: { _id: recipientId(activity, subscriptionId), token },
        update: { $set: { token: null, state: "lost" as const, held_message_id: null, updated_at: now } },
      },
    }));
    await rows.bulkWrite(writes, { ordered: false });
  },

  /** Notes that the addresses of these devices are gone, to which updates went for want of tokens of their own. */
  loseAddresses: async (activity: string, subscriptionIds: readonly string[], now: Date): Promise<void> => {
    if (subscriptionIds.length === 0) return;
    const ids = subscriptionIds.map((id) => recipientId(activity, id));
    const lost = { state: "lost" as const, updated_at: now };
    await rows.updateMany({ _id: { $in: ids }, state: "active", token: null }, { $set: lost });
  },

  /** Notes that the activity was ended on these devices. */
  finish: async (activity: string, subscriptionIds: readonly string[], now: Date): Promise<void> => {
    const ids = subscriptionIds.map((id) => recipientId(activity, id));
    await rows.updateMany({ _id: { $in: ids }, state: "active" }, { $set: { state: "ended", updated_at: now } });
  },
});
