import { type Static, Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Object: Group } = Type;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** What a tenant did in a time. Source: docs/reference/usage.md#figures. */
export const UsageCounts = Group({
  requests: Count("REST requests of the organisation's keys, also those that were refused"),
  messages: Count("notifications accepted, repeats left out"),
  deliveries: Count("recipients whose outcome is stored, suppressed ones left out"),
  events: Count("events of the organisation's apps: the service's and custom ones"),
  webhook_requests: Count("requests to webhook endpoints, each attempt"),
  bytes: Count(
    "bytes of the bodies of REST requests, of the events sent to webhook endpoints and of the files of warehouse exports",
  ),
});

/** A quota of the plan, as `HS_QUOTA_EXCEEDED` tells of it. */
export const QuotaUse = Group({
  limit: Count("deliveries that are allowed"),
  used: Count("deliveries that are reserved or sent; exact"),
  resets_at: DateTime,
});
export type QuotaUse = Static<typeof QuotaUse>;

/** How many there are of what a plan limits. */
export const Allowance = Group({
  limit: Nullable(Count("how many the plan allows; null: any number")),
  used: Nullable(Count("how many there are, a few seconds old at most; null where nothing counts them")),
});

/** `GET /v1/usage`. Source: docs/reference/usage.md. */
export const Usage = Group({
  tenant_id: Type.String({ description: "the organisation of the key" }),
  last_hour: UsageCounts,
  this_month: UsageCounts,
  webhook_backlog: Count("deliveries to webhook endpoints that wait, also for their next attempt"),
  webhook_backlog_at: Nullable(DateTime),
  limits: Group({
    requests_per_second: Count("of each key"),
    messages_per_month: Nullable(QuotaUse),
    messages_per_day: Nullable(QuotaUse),
    subscribers: Allowance,
    apps: Allowance,
    members: Allowance,
    retention_days: Count("days that messages and deliveries are kept"),
  }),
  as_of: DateTime,
});
export type Usage = Static<typeof Usage>;

named({ Usage, UsageCounts, QuotaUse, Allowance });
