import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { analyticsLimits, quarterRangeQuery } from "./query.ts";
import { cohortUnits, reportReply } from "./retention.ts";

const { Array: List, Enum, Integer, Object: Members, Optional, String: Text } = Type;

/** What an audience can be told apart by: subscriptions by the first three, users by the others. */
export const audienceGroupings = ["channel", "app_version", "os_version", "language", "country"] as const;
export type AudienceGrouping = (typeof audienceGroupings)[number];

const { compare: _compare, ...plainRange } = quarterRangeQuery;

/** Query of `GET /v1/apps/{appId}/analytics/audience`. */
export const AudienceQuery = Closed({
  ...plainRange,
  interval: Optional(Enum([...cohortUnits], { default: "day", description: "by the clocks of `timezone`" })),
  group_by: Optional(
    Enum([...audienceGroupings], {
      description:
        `the ${analyticsLimits.groups} most frequent ones: \`channel\`, \`app_version\`, \`os_version\` of subscriptions that are ` +
        "subscribed, `language`, `country` of users",
    }),
  ),
});
export type AudienceQuery = Static<typeof AudienceQuery>;

const statuses = {
  subscriptions: Integer(),
  subscribed: Integer(),
  unsubscribed: Integer(),
  invalid: Integer({ description: "their provider knows them no longer" }),
};

/** Different users who were active: docs/reference/analytics.md#audience. */
export const ActiveUsers = Members(
  { dau: Integer(), wau: Integer(), mau: Integer() },
  { description: "different users who were active in the last day, 7 days and 30 days" },
);

const Current = Members(
  {
    users: Integer(),
    active_users: Nullable(ActiveUsers),
    ...statuses,
    by_channel: List(Members({ channel: ChannelName, ...statuses }), { description: "one for each channel" }),
  },
  { description: "who is there at `as_of`; null until it was counted" },
);

const Group = Members({
  key: Text({ description: "`none`: of those without one; `other`: of all others" }),
  count: Integer(),
});

const AudiencePoint = Members({
  at: DateTime,
  new_users: Integer({ description: "users who were made in the interval and are there still" }),
  new_subscriptions: Integer({ description: "subscriptions that were, and are" }),
  unsubscribed: Integer({ description: "subscriptions that were unsubscribed in it and are so still" }),
  invalidated: Integer({ description: "subscriptions that became invalid in it and are so still" }),
  reactivated: Integer({
    description: "subscriptions that were subscribed again in it, for the last time, and are so still",
  }),
  net: Integer({ description: "`new_subscriptions` without `unsubscribed` and `invalidated`" }),
  active_users: Integer({
    description: "different users who were active in it: by a session, an open, a click, or an event of a device",
  }),
});

/** Who is there, and who came and went. */
export const Audience = Members({
  ...reportReply,
  current: Nullable(Current),
  groups: Nullable(
    List(Group, { description: "the most frequent first; null without `group_by`, and until it was counted" }),
  ),
  series: Nullable(List(AudiencePoint, { description: "one for each interval; null until it was counted" })),
});
export type Audience = Static<typeof Audience>;

named({ Audience });
