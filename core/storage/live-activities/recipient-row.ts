import { derivedId } from "../../domain/ids.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { CollectionSpec } from "../mongo/collection.ts";

/** `starting`: it has reported no token; `active`; `ended`; `lost`: its token is gone; `failed`: it was never started. */
export const recipientStates = ["starting", "active", "ended", "lost", "failed"] as const;
export type RecipientState = (typeof recipientStates)[number];

/** An activity on one device. Whose it is, its subscription says: that may move to another user. */
export type ActivityRecipientRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  subscription_id: string;
  /** Absent: iOS. */
  channel?: Channel;
  /** Of the activity's document. */
  activity: string;
  state: RecipientState;
  /**
   * Where its updates go on iOS; null until the device has reported it. On Android always null: they go to the
   * subscription's own address.
   */
  token: string | null;
  /** The message that started it here; null when the app did. */
  start_message_id: string | null;
  /** Until when an update waits for the token. */
  hold_until: Date;
  /** The latest update that waits for the token. */
  held_message_id: string | null;
  created_at: Date;
  updated_at: Date;
};

/** How long activities and the tokens of devices are kept. */
export const activityKeptDays = 30;

export const activityRecipientCollection: CollectionSpec = {
  name: "live_activity_recipients",
  indexes: [
    { key: { app_id: 1, activity: 1, subscription_id: 1 }, name: "audience" },
    {
      key: { app_id: 1, activity: 1, channel: 1, subscription_id: 1 },
      name: "others",
      partialFilterExpression: { channel: { $gt: "" } },
    },
    { key: { app_id: 1, token: 1 }, name: "token", partialFilterExpression: { token: { $gt: "" } } },
    {
      key: { activity: 1, held_message_id: 1, token: 1 },
      name: "held",
      partialFilterExpression: { held_message_id: { $gt: "" } },
    },
    { key: { app_id: 1, subscription_id: 1 }, name: "subscription" },
    // An activity lasts for half a day; what is sent of it later is refused.
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: activityKeptDays * 86_400 },
  ],
  former: ["user"],
  owner: { kind: "subscription", member: "subscription_id" },
  appRemoval: { index: "audience" },
  erasure: { subscription: "subscription_id" },
  retention: { index: "retention" },
};

/** The id of the document of an activity on a device. */
export const recipientId = (activity: string, subscriptionId: string): string =>
  derivedId("liveActivityRecipient", activity, subscriptionId);
