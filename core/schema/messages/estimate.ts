import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";
import { CreateNotificationResult, SkippedChannel } from "./message.ts";
import { Content, CreateNotification, contentNeeds, Options, Target } from "./notification.ts";
import { ScheduleShown } from "./schedule.ts";

const { Array: List, Integer, Optional, Record, String: Text } = Type;

/** What of a message's options an estimate takes. */
const { include_unsubscribed, one_per_user, send_after, delayed_option, delivery_time_of_day } = Options.properties;
const { throttle_rate_per_minute, quiet_hours_exempt, optimized_control_percent } = Options.properties;

/** Members of an estimate that are options of a message. */
export const EstimateOptions = {
  include_unsubscribed,
  one_per_user,
  send_after,
  delayed_option,
  delivery_time_of_day,
  optimized_control_percent,
  throttle_rate_per_minute,
  quiet_hours_exempt,
};

/** Body of `POST /v1/notifications/estimate`. Source: docs/reference/messages.md#estimate. */
export const EstimateAudience = Closed(
  {
    app_id: CreateNotification.properties.app_id,
    target: Target,
    category: CreateNotification.properties.category,
    ...EstimateOptions,
    ...Content.properties,
  },
  contentNeeds,
);
export type EstimateAudience = Static<typeof EstimateAudience>;

const { recipients_estimate: recipients, external_id_missing, missing } = CreateNotificationResult.properties;

/** Its reply: whom a message to this target would reach now. */
export const EstimateAudienceResult = Type.Object({
  recipients,
  by_channel: Record(Text(), Integer({ minimum: 1 }), {
    description: "channels that reach anybody; their sum is `recipients`",
  }),
  skipped_channels: List(
    Type.Object({
      ...SkippedChannel.properties,
      recipients: Integer({ minimum: 1, description: "of the target on this channel, who are not in `recipients`" }),
    }),
    { description: "channels with somebody of the target whom the message does not reach" },
  ),
  is_exact: Optional(
    Type.Literal(false, {
      description:
        "there when too many would have to be looked at: segments or a filter were left out of the count, or it is that of `as_of`",
    }),
  ),
  is_upper_bound: Optional(
    Type.Literal(true, {
      description:
        "there when at most so many are reached: all of the channels, or the sum over the segments, of whom some are in several, or are left out by a filter or an exclusion",
    }),
  ),
  as_of: Optional(
    Text({
      format: "date-time",
      description:
        "when the segments were counted, whose last counts these are, the first of them; suppressions are not taken off",
    }),
  ),
  ...Type.Partial(ScheduleShown).properties,
  new_contacts: Integer({
    minimum: 0,
    description: "of `recipients`, those whose address the app does not have yet: a message makes them",
  }),
  external_id_missing,
  missing,
});
export type EstimateAudienceResult = Static<typeof EstimateAudienceResult>;

named({ EstimateAudience, EstimateAudienceResult });
