import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Boolean: Flag, Enum, Optional, String: Text } = Type;

/** Broadcast channels that an app may have at a time; Apple admits 10,000. Source: docs/reference/limits.md#live-activities. */
export const mostChannels = 1_000;

const StoresLatest = Flag({
  description: "whether Apple keeps the latest update for devices that are off (`message-storage-policy` 1)",
});

/** Body of `POST …/types/{activityType}/channels`. */
export const CreateLiveActivityChannel = Closed({ stores_latest: Optional(StoresLatest) });
export type CreateLiveActivityChannel = Static<typeof CreateLiveActivityChannel>;

export const channelStatuses = ["creating", "ready", "used", "failed", "deleting"] as const;

/** A broadcast channel of Apple's. Source: docs/reference/live-activities.md#channels. */
export const LiveActivityChannel = Type.Object({
  id: Text(),
  status: Enum([...channelStatuses]),
  apns_channel_id: Nullable(Text({ description: "Apple's id, which apps can subscribe to as well" })),
  activity_id: Nullable(Text({ description: "the activity that it is used for" })),
  stores_latest: StoresLatest,
  error: Nullable(Text({ description: "why Apple made none" })),
  created_at: DateTime,
  updated_at: DateTime,
});
export type LiveActivityChannel = Static<typeof LiveActivityChannel>;

export const LiveActivityChannelList = Type.Object({ data: List(LiveActivityChannel) });

named({ CreateLiveActivityChannel, LiveActivityChannel, LiveActivityChannelList });
