import { type Static, Type } from "typebox";
import { Closed, Nullable } from "../json/common.ts";
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

const { external_id_missing, missing } = CreateNotificationResult.properties;

/** Its reply: whom a message to this target would reach now. */
export const EstimateAudienceResult = Type.Object({
  recipients: Nullable(Integer({ minimum: 0, description: "null: they were not counted in time, nor before" })),
  upper_bound: Optional(
    Integer({
      minimum: 0,
      description:
        "there when `recipients` is null: at most so many are reached, who are all of the channels, or the sum over the segments, of whom some are in several, or are left out by a filter or an exclusion",
    }),
  ),
  by_channel: Record(Text(), Integer({ minimum: 1 }), {
    description: "channels that reach anybody; their sum is `recipients`, or `upper_bound` where that is null",
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
        "there when too many would have to be looked at: `recipients` is the last count, made at `as_of`, or null",
    }),
  ),
  as_of: Optional(
    Nullable(
      Text({
        format: "date-time",
        description:
          "there with `is_exact`: when the segment was counted, whose last count this is; suppressions are not taken off",
      }),
    ),
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
