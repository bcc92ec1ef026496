import type { Clock } from "#core/domain/clock.ts";
import type { Activities } from "#core/storage/live-activities/activities.ts";
import type { ActivityRecipients } from "#core/storage/live-activities/recipients.ts";
import type { StartTokens } from "#core/storage/live-activities/start-tokens.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { LiveActivityMessages } from "#core/storage/messages/live-activities.ts";
import type { MessageActivity, MessageRow } from "#core/storage/messages/message-row.ts";
import type { WaitingDeliveries } from "#core/storage/messages/waiting.ts";
import { type Attempt, deliveryIdOf } from "../messages/delivery/delivery-row.ts";
import type { Work } from "../messages/delivery/work.ts";

export type ActivityDeliverDeps = {
  recipients: { load: (ids: readonly string[]) => Promise<Reached[]> };
  startTokens: Pick<StartTokens, "of" | "removeLost">;
  activityRecipients: Pick<ActivityRecipients, "claim" | "fail" | "of" | "hold" | "lose" | "loseAddresses" | "finish">;
  activities: Pick<Activities, "dueBy">;
  sent: Pick<LiveActivityMessages, "newerBegun">;
  waiting: Pick<WaitingDeliveries, "end">;
  /** Has the counters of messages that have ended made anew. */
  recount: (messageIds: readonly string[], now: Date) => Promise<void>;
  /** Whether a push with another state would fit, over the channel of the work. */
  fits: (live: MessageActivity, work: Work) => boolean;
  clock: Clock;
};

/** Who is sent to now, with the tokens that it goes to; and what becomes of the others. */
export type Sorted = {
  ready: Reached[];
  others: DeliveryRow[];
  /** What is sent to them, where it is not the message as it was accepted. */
  message?: MessageRow;
};

/** What sorting the recipients of a piece of work needs. */
export type Sorting = { work: Work; live: MessageActivity; rows: readonly Reached[]; now: Date };

export const tokenOf = (row: Reached, token: string | null | undefined): Reached[] =>
  token == null ? [] : [{ ...row, token }];

/** Of what was not handed to a provider: the delivery of a recipient. */
export const attemptOf = ({ work, live, now }: Sorting, subscription: Reached): Attempt => ({
  deliveryId: deliveryIdOf(work.message._id, subscription._id),
  chunk: work.chunk,
  subscription,
  provider: work.chunk.channel === "ios_push" ? "apns" : "fcm",
  now,
  expiresAt: now,
  isReplaceable: false,
  activityId: live.activity_id,
});

/** A broadcast channel in the place of a recipient: it has the id of the channel, and is nobody's. */
export const subscriber = ({ id, apns_channel_id: token }: NonNullable<MessageActivity["channel"]>): Reached => ({
  _id: id,
  user_id: id,
  external_id: null,
  channel: "ios_push",
  token,
  web: null,
  status: "subscribed",
  language: null,
  test_device: false,
});
