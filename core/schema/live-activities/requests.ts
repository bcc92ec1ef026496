import { type Static, Type } from "typebox";
import { Closed, conditional, LanguageMap, MapOf } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";
import { Target as MessageTarget } from "../messages/notification.ts";
import { activityLimits } from "./type.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Decimal, Optional, String: Text, Union } = Type;

export const liveActivityEvents = ["start", "update", "end"] as const;
export type LiveActivityEvent = (typeof liveActivityEvents)[number];

/** What a content state or attributes hold: flat, as Swift's synthesized `Codable` reads it from JSON. */
export const ActivityValues = MapOf(
  { minLength: 1, maxLength: activityLimits.nameCharacters },
  Union([Text({ maxLength: activityLimits.textCharacters }), Decimal(), Flag()]),
  { maxProperties: activityLimits.properties },
);
export type ActivityValues = Static<typeof ActivityValues>;

/** The end of 2099, in seconds since 1970. */
export const lastInstant = 4_102_444_800;

const Instant = (description: string) =>
  Optional(
    Union(
      [
        Integer({ minimum: 0, maximum: lastInstant }),
        Text({ format: "iso-date-time", pattern: patterns.dateTime, maxLength: 64 }),
      ],
      { description: `${description}; seconds since 1970, or ISO 8601, without an offset UTC` },
    ),
  );

const shared = {
  alert: Optional(
    Closed(
      {
        title: Optional(LanguageMap),
        body: Optional(LanguageMap),
        sound: Optional(Text({ maxLength: 100, description: "name of a sound file in the app" })),
      },
      { description: "lights the screen up; the text is shown on devices without the activity, such as a watch" },
    ),
  ),
  stale_date: Instant("when the content is outdated"),
  dismissal_date: Instant("when an ended activity leaves the Lock Screen; of effect on `end` alone"),
  relevance_score: Optional(
    Decimal({ minimum: 0, maximum: 1, description: "which of several activities comes first" }),
  ),
  priority: Optional(
    Enum([5, 10], { description: "10 is delivered at once and counts against the device's budget; 5 does neither" }),
  ),
  name: Optional(Text({ maxLength: 200, description: "of the message that this becomes" })),
};

export const ActivityId = Text({ minLength: 1, maxLength: 100, description: "unique in the app" });

const { all, include_subscription_ids, include_external_ids, include_aliases } = MessageTarget.properties;

const segmentNames = List(Text({ minLength: 1, maxLength: 128 }), { maxItems: 20 });

const StartTarget = Closed(
  {
    all,
    include_subscription_ids,
    include_external_ids,
    include_aliases,
    included_segments: Optional(segmentNames),
    excluded_segments: Optional(segmentNames),
  },
  { minProperties: 1, description: "whom to start it for: on iOS those who have a push-to-start token for this type" },
);

/** Body of `POST …/live-activities/{activityType}/start`. Source: docs/reference/live-activities.md#sends. */
export const StartLiveActivity = Closed({
  activity_id: Optional(ActivityId),
  attributes: Optional(ActivityValues),
  content_state: ActivityValues,
  target: StartTarget,
  channel: Optional(
    Flag({
      description:
        "subscribes iOS devices to a broadcast channel of the type: each update is one request to Apple then",
    }),
  ),
  ...shared,
});
export type StartLiveActivity = Static<typeof StartLiveActivity>;

/** Body of `POST …/live-activities/{activityType}/update`. */
export const UpdateLiveActivity = Closed({ activity_id: ActivityId, content_state: ActivityValues, ...shared });
export type UpdateLiveActivity = Static<typeof UpdateLiveActivity>;

/** Body of `POST …/live-activities/{activityType}/end`; without a state the last one is sent. */
export const EndLiveActivity = Closed({
  activity_id: ActivityId,
  content_state: Optional(ActivityValues),
  ...shared,
});
export type EndLiveActivity = Static<typeof EndLiveActivity>;

/** What all three have in common. */
export type LiveActivitySend = Pick<
  StartLiveActivity,
  "alert" | "stale_date" | "dismissal_date" | "relevance_score" | "priority" | "name"
>;

/** Reply to the three sends. `external_id_missing` and `missing` are additive: what of the target matched nobody. */
export const LiveActivitySendResult = Type.Object({
  message_id: Text(),
  activity_id: Text(),
  event: Enum([...liveActivityEvents]),
  recipients_estimate: Integer({ minimum: 0, description: "devices; exact up to 100,000" }),
  external_id_missing: Optional(List(Text())),
  missing: Optional(Type.Object({ subscription_ids: List(Text()), aliases: Type.Record(Text(), List(Text())) })),
});
export type LiveActivitySendResult = Static<typeof LiveActivitySendResult>;

/** As ActivityKit gives it out: hexadecimal, of a length that Apple does not promise. */
const Token = Text({
  pattern: worded("^([0-9A-Fa-f]{2}){32,200}$", "must be 64 to 400 hexadecimal digits, two for each byte"),
  description: "hexadecimal, as the device reports it",
});

const ofKind = (kind: string, own: string, other: string): object =>
  conditional({
    when: { type: "object", properties: { kind: { const: kind } }, required: ["kind"] },
    require: { type: "object", properties: { [own]: true, [other]: false }, required: [own] },
  });

/** Body of `PUT` and `DELETE …/live-activity-tokens`. Source: docs/reference/live-activities.md#tokens. */
export const LiveActivityToken = Closed(
  {
    kind: Enum(["start", "update"]),
    activity_type: Optional(
      Text({ minLength: 1, maxLength: 128, description: "of a token to start with: id or name of a type" }),
    ),
    activity_id: Optional(
      Text({ minLength: 1, maxLength: 100, description: "of a token for updates: the activity that it is for" }),
    ),
    token: Token,
  },
  { allOf: [ofKind("start", "activity_type", "activity_id"), ofKind("update", "activity_id", "activity_type")] },
);
export type LiveActivityToken = Static<typeof LiveActivityToken>;

named({ StartLiveActivity, UpdateLiveActivity, EndLiveActivity, LiveActivitySendResult, LiveActivityToken });
