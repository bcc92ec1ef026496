import { type Static, Type } from "typebox";
import { DateTime } from "../json/common.ts";
import { named } from "../json/named.ts";
import { Message, messageStatuses } from "./message.ts";

const { Array: List, Enum, String: Text } = Type;

/** A change of a notification's state, and why it came. Source: docs/reference/notification-operations.md#timeline. */
export const TimelineEntry = Type.Object({
  at: DateTime,
  state: Enum([...messageStatuses]),
  cause: Text({
    description:
      "accepted, begun, fallback_ with a channel, sent, cancelled, cancelled_by_force; of one that failed, its `error`; more may come",
  }),
  actor: Message.properties.requested_by,
});
export type TimelineEntry = Static<typeof TimelineEntry>;

/** Reply of `GET /v1/notifications/{messageId}/timeline`. */
export const MessageTimeline = Type.Object({
  data: List(TimelineEntry, { maxItems: 500, description: "the oldest first" }),
});
export type MessageTimeline = Static<typeof MessageTimeline>;

named({ TimelineEntry, MessageTimeline });
