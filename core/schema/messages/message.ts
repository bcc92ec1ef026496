import { type Static, Type } from "typebox";
import { ChannelName, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";
import { ShownEffect } from "./effect.ts";
import { ShownGain } from "./optimized.ts";
import { ShownWinner } from "./winner.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

export const messageStatuses = ["queued", "processing", "completed", "cancelled", "failed"] as const;
export const messageSources = ["campaign", "api", "journey", "test"] as const;

/** The counters of a message. Source: docs/reference/messages.md#counters. */
export const Counts = Type.Object({
  targeted: Optional(Integer()),
  suppressed: Optional(Integer()),
  sent: Optional(Integer()),
  delivered: Optional(Integer()),
  failed: Optional(Integer()),
  errored: Optional(Integer()),
  expired: Optional(Integer()),
  opened: Optional(Integer()),
  clicked: Optional(Integer()),
  converted: Optional(Integer()),
  bounced: Optional(Integer()),
  complained: Optional(Integer()),
  unsubscribed: Optional(Integer()),
  sms_segments: Optional(Integer()),
  uncertain: Optional(Integer({ description: "of `sent`: the provider's answer was lost, and it was not sent again" })),
});
export type Counts = Static<typeof Counts>;

/** Every counter at 0. */
export const zeroCounts = (): Required<Counts> =>
  Object.fromEntries(Object.keys(Counts.properties).map((key) => [key, 0])) as Required<Counts>; // every key is set

const AnyMap = Type.Object({}, { additionalProperties: true });

/** A variant as it is shown with its message. Source: docs/reference/variants.md. */
const ShownVariant = Type.Object({
  id: Text({ description: "`a` for the first: deliveries have it as `variant_id`" }),
  name: Text(),
  weight_percent: Type.Number(),
  is_control: Type.Boolean(),
  content: AnyMap,
  counts: Counts,
  is_winner: Type.Boolean(),
});

/** A notification as the interface shows it. Source: docs/reference/messages.md#message-fields. */
export const Message = Type.Object({
  id: Text(),
  app_id: Text(),
  source: Enum([...messageSources]),
  status: Enum([...messageStatuses]),
  idempotency_key: Nullable(Text()),
  name: Nullable(Text()),
  content: AnyMap,
  target: AnyMap,
  options: AnyMap,
  labels: List(Text()),
  category: Nullable(Text()),
  template_id: Nullable(Text()),
  template_version: Nullable(Integer({ description: "of the template, when the message was accepted" })),
  campaign_id: Nullable(Text()),
  variants: Nullable(List(ShownVariant)),
  winner: Nullable(ShownWinner),
  optimized: Nullable(ShownGain),
  effect: Nullable(ShownEffect),
  counts: Counts,
  requested_by: Type.Object({ type: Enum(["api_key", "account", "system"]), id: Optional(Text()) }),
  error: Nullable(Text()),
  scheduled_for: Nullable(DateTime),
  started_at: Nullable(DateTime),
  completed_at: Nullable(DateTime),
  created_at: DateTime,
  updated_at: DateTime,
});
export type Message = Static<typeof Message>;

export const MessagePage = PageOf(Message);

/** A channel that is not gone over although its target names none. Source: docs/reference/messages.md#skipped-channels. */
export const SkippedChannel = Type.Object({
  channel: ChannelName,
  reason: Enum(["no_content", "not_named", "not_configured"], {
    description:
      "no_content: the message says nothing on it; not_named: texts alone go there only when target.channels names it; " +
      "not_configured: the app has no account for it",
  }),
});
export type SkippedChannel = Static<typeof SkippedChannel>;

/** Reply of `POST /v1/notifications`. `missing` is additive: what else of the target matched nothing. */
export const CreateNotificationResult = Type.Object({
  id: Text(),
  status: Enum([...messageStatuses]),
  recipients_estimate: Integer({ minimum: 0, description: "deliveries expected now; exact up to 100,000" }),
  external_id_missing: List(Text()),
  missing: Optional(
    Type.Object({
      subscription_ids: List(Text()),
      aliases: Type.Record(Text(), List(Text())),
    }),
  ),
  skipped_channels: Optional(
    List(SkippedChannel, {
      description: "channels that the app has an account for and this message no content; left out when there are none",
    }),
  ),
});
export type CreateNotificationResult = Static<typeof CreateNotificationResult>;

export const messagePaging = pagingOf({ sort: "-created_at" });

/** Query of `GET /v1/notifications`. Source: docs/reference/messages.md#message-list. */
export const MessageListQuery = Type.Object({
  app_id: Optional(Text({ minLength: 1, maxLength: 64, description: "required unless the key is bound to one app" })),
  ...messagePaging.pageQuery,
  source: Optional(Enum([...messageSources])),
  kind: Optional(Enum([...messageSources], { description: "the same as `source`" })),
  status: Optional(Enum([...messageStatuses])),
  label: Optional(Text({ minLength: 1, maxLength: 40 })),
  category: Optional(Text({ minLength: 1, maxLength: 64 })),
  idempotency_key: Optional(Text({ minLength: 1, maxLength: 255, pattern: patterns.idempotencyKey })),
  campaign_id: Optional(Text({ minLength: 1, maxLength: 64 })),
  template_id: Optional(Text({ minLength: 1, maxLength: 64 })),
  from: Optional(DateTime),
  to: Optional(DateTime),
  ...messagePaging.sortQuery,
});
export type MessageListQuery = Static<typeof MessageListQuery>;

export const MessageQuery = Type.Object({ app_id: Optional(Text({ minLength: 1, maxLength: 64 })) });

/** Query of `DELETE /v1/notifications/{messageId}`. */
export const CancelQuery = Type.Object({
  ...MessageQuery.properties,
  force: Optional(
    Type.Boolean({
      description: "also one that is being sent: what was not handed to a provider is not sent any more",
    }),
  ),
});
export type CancelQuery = Static<typeof CancelQuery>;

named({ Message, MessagePage, CreateNotificationResult });
