import { type Static, Type } from "typebox";
import { ChannelName, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { deliveryErrorCodes } from "../vocabulary/delivery-error-codes.ts";

const { Enum, Integer, Optional, String: Text } = Type;

/** The furthest state of a delivery. Source: docs/reference/messages.md#delivery-status. */
export const deliveryStatuses = [
  "queued",
  "scheduled",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "failed",
  "errored",
  "bounced",
  "complained",
  "unsubscribed",
  "expired",
  "suppressed",
  "cancelled",
] as const;

/** What became of one recipient. Source: docs/reference/messages.md#deliveries. */
export const Delivery = Type.Object({
  id: Text(),
  message_id: Text(),
  app_id: Text(),
  campaign_id: Nullable(Text()),
  variant_id: Nullable(Text()),
  timing: Nullable(
    Enum(["optimized", "control"], {
      description: "of an optimised message: whether they are sent to in their own hour, or in that of all",
    }),
  ),
  fallback_of: Nullable(
    Text({ description: "of one by a step of `fallback`: the delivery of the same person that it comes after" }),
  ),
  activity_id: Nullable(Text()),
  subscription_id: Text(),
  user_id: Nullable(Text({ description: "null once the person is erased" })),
  external_id: Nullable(Text()),
  channel: ChannelName,
  address_masked: Nullable(Text()),
  status: Enum([...deliveryStatuses]),
  error_code: Nullable(Text()),
  error_message: Nullable(Text()),
  provider_code: Nullable(Text({ description: "the provider's own code, as it came" })),
  suppression_reason: Nullable(Text()),
  provider: Nullable(Text()),
  provider_message_id: Nullable(Text()),
  attempts: Integer({ minimum: 0, description: "calls of the provider" }),
  uncertain: Type.Boolean({
    description: "it counts as sent and may have arrived: the provider's answer was lost, and it is not sent again",
  }),
  sms_segments: Nullable(Integer()),
  scheduled_for: Nullable(DateTime),
  time_zone_source: Nullable(
    Enum(["app_default"], {
      description:
        "of one that waits for a local time: the zone of the recipient is not known, so that the app's counts",
    }),
  ),
  sent_at: Nullable(DateTime),
  delivered_at: Nullable(DateTime),
  opened_at: Nullable(DateTime),
  clicked_at: Nullable(DateTime),
  dismissed_at: Nullable(DateTime),
  failed_at: Nullable(DateTime),
  bounced_at: Nullable(DateTime),
  complained_at: Nullable(DateTime),
  unsubscribed_at: Nullable(DateTime),
  converted_at: Nullable(DateTime),
  expired_at: Nullable(DateTime),
  clicked_url: Nullable(Text()),
  clicked_button_id: Nullable(Text()),
  created_at: DateTime,
  updated_at: DateTime,
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryPage = PageOf(Delivery);

/** One call of a provider. Source: docs/reference/notification-operations.md#tries. */
export const DeliveryTry = Type.Object({
  at: DateTime,
  provider: Nullable(Text()),
  status: Enum(["sent", "retried", "failed", "errored", "expired"], {
    description: "retried: it was tried again afterwards",
  }),
  code: Nullable(Text({ description: "as `error_code`; null when it was taken, or its answer was lost" })),
  provider_code: Nullable(Text({ description: "the provider's own code, as it came" })),
  answer: Nullable(Text({ description: "what the provider said, in words" })),
});
export type DeliveryTry = Static<typeof DeliveryTry>;

/** Reply of `GET /v1/apps/{appId}/deliveries/{messageDeliveryId}`. */
export const DeliveryWithTries = Type.Object({
  ...Delivery.properties,
  tries: Type.Array(DeliveryTry, { maxItems: 21, description: "the latest calls of the provider, the oldest first" }),
});
export type DeliveryWithTries = Static<typeof DeliveryWithTries>;

const Id = Text({ minLength: 1, maxLength: 64 });

export const deliveryPaging = pagingOf({ sort: "created_at" });

/** Query of `GET /v1/notifications/{messageId}/deliveries`. `from` and `to` bound `created_at`. */
export const DeliveryListQuery = Type.Object({
  app_id: Optional(Id),
  ...deliveryPaging.pageQuery,
  status: Optional(Enum([...deliveryStatuses])),
  channel: Optional(ChannelName),
  variant_id: Optional(Id),
  subscription_id: Optional(Id),
  user_id: Optional(Id),
  external_id: Optional(Text({ minLength: 1, maxLength: 255 })),
  error_code: Optional(Enum([...deliveryErrorCodes])),
  suppression_reason: Optional(Id),
  uncertain: Optional(Type.Boolean({ description: "whether the provider's answer was lost" })),
  from: Optional(DateTime),
  to: Optional(DateTime),
  ...deliveryPaging.sortQuery,
});
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

named({ Delivery, DeliveryPage, DeliveryTry, DeliveryWithTries });
