import { type Static, Type } from "typebox";
import { customEventLimits, eventNamePattern } from "../events/custom.ts";
import { eventKinds, webhookEventKinds } from "../events/envelope.ts";
import { Closed, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns, worded } from "../json/patterns.ts";
import { webhookErrorClasses } from "../vocabulary/webhook-errors.ts";
import { WebhookFilters } from "./filters.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Decimal, Optional, Partial, String: Text } = Type;

/** Bounds of one endpoint. Source: docs/reference/limits.md#webhook-bounds. */
export const webhookLimits = {
  headers: 20,
  headerValueCharacters: 2_000,
  templateCharacters: 20_000,
  ratePerSecond: 10_000,
  maxInFlight: { most: 20, standard: 10 },
  timeoutMs: { least: 1_000, most: 30_000, standard: 10_000 },
} as const;

const EventName = Text({ minLength: 1, maxLength: customEventLimits.nameCharacters, pattern: eventNamePattern });
const EventNames = List(EventName, { maxItems: 50, uniqueItems: true });

/** The custom event that tells a message of a person, which {@link audiences} narrow. */
export const messageReceived = "hs.conversation.message_received";
/** Who is to answer what people write. Source: docs/reference/webhooks.md#endpoints. */
export const audiences = ["bot"] as const;
const Audience = Nullable(
  Enum([...audiences], { description: `of ${messageReceived}, only those in conversations that a bot handles` }),
);
const EventFilters = Closed({ event_names: Optional(EventNames), audience: Optional(Audience) });

/** Names are HTTP tokens; values printable ASCII. Which names are reserved is checked by the use case. */
const Headers = MapOf(
  {
    pattern: worded(
      "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
      "must be an HTTP header name: 1 to 100 letters, digits and !#$%&'*+.^_`|~-",
    ),
  },
  Text({ maxLength: webhookLimits.headerValueCharacters, pattern: patterns.headerValue }),
  { maxProperties: webhookLimits.headers, description: "sent with every request; kept encrypted and never shown" },
);

const pace = {
  rate_per_second: Nullable(
    Integer({
      minimum: 1,
      maximum: webhookLimits.ratePerSecond,
      description: "requests begun a second; null = no limit",
    }),
  ),
  max_in_flight: Integer({
    minimum: 1,
    maximum: webhookLimits.maxInFlight.most,
    description: `requests under way at once; default ${webhookLimits.maxInFlight.standard}`,
  }),
  timeout_ms: Integer({
    minimum: webhookLimits.timeoutMs.least,
    maximum: webhookLimits.timeoutMs.most,
    description: `for a whole request; default ${webhookLimits.timeoutMs.standard}`,
  }),
};

const shaping = {
  body_template: Nullable(
    Text({ minLength: 1, maxLength: webhookLimits.templateCharacters, description: "Liquid over the envelope" }),
  ),
  body_content_type: Enum(["application/json", "text/plain"], { description: "default application/json" }),
  filters: Nullable(WebhookFilters),
};

const settings = {
  description: Nullable(Text({ maxLength: 300 })),
  event_filters: EventFilters,
  batch: Flag({ description: "delivery.* events come grouped, at most 100 a request" }),
  paused: Flag({ description: "keeps events and sends them once it is false again" }),
  ...shaping,
  ...pace,
};

const Url = Text({
  minLength: 1,
  maxLength: 2048,
  pattern: patterns.httpAddress,
  description: "https; no private or local address",
});
const Events = List(Enum([...webhookEventKinds]), {
  minItems: 1,
  maxItems: webhookEventKinds.length,
  uniqueItems: true,
});

/** Body of `POST …/webhooks`. Source: docs/reference/webhooks.md#endpoints. */
export const CreateWebhook = Closed({
  url: Url,
  events: Events,
  headers: Optional(Headers),
  ...Partial(Closed(settings)).properties,
});
export type CreateWebhook = Static<typeof CreateWebhook>;

/** Body of `PATCH …/webhooks/{webhookId}`. */
export const UpdateWebhook = Closed(
  Partial(
    Closed({
      url: Url,
      events: Events,
      headers: Nullable(Headers),
      status: Enum(["active", "disabled"]),
      ...settings,
    }),
  ).properties, // Partial alone admits members that it does not name
);
export type UpdateWebhook = Static<typeof UpdateWebhook>;

/** Progress of the sending again of what had failed or was missed. */
export const Recovery = Type.Object({
  id: Text(),
  status: Enum(["running", "completed"]),
  since: DateTime,
  until: DateTime,
  replayed: Integer({ minimum: 0, description: "deliveries made so far" }),
  requested_at: DateTime,
  completed_at: Nullable(DateTime),
});
export type Recovery = Static<typeof Recovery>;

const webhookMembers = {
  id: Text(),
  app_id: Text(),
  url: Text(),
  description: Nullable(Text()),
  events: List(Enum([...eventKinds])),
  event_filters: Type.Object({ event_names: Optional(List(Text())), audience: Optional(Enum([...audiences])) }),
  batch: Flag(),
  status: Enum(["active", "failing", "disabled"]),
  paused: Flag(),
  disabled_reason: Nullable(Text()),
  failure_count: Integer({ minimum: 0, description: "failed requests since the last success" }),
  failing_since: Nullable(DateTime),
  last_success_at: Nullable(DateTime),
  last_failure_at: Nullable(DateTime),
  header_names: List(Text()),
  previous_secret_expires_at: Nullable(DateTime),
  body_template: Nullable(Text()),
  body_content_type: Enum(["application/json", "text/plain"]),
  filters: Nullable(WebhookFilters),
  rate_per_second: Nullable(Integer()),
  max_in_flight: Integer(),
  timeout_ms: Integer(),
  recovery: Nullable(Recovery),
  created_at: DateTime,
  updated_at: DateTime,
};

/** An outbound endpoint. */
export const Webhook = Type.Object(webhookMembers);
export type Webhook = Static<typeof Webhook>;

/** Reply of create and of rotate-secret only. */
export const WebhookWithSecret = Type.Object({ ...webhookMembers, secret: Text() });
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const WebhookList = Type.Object({ data: List(Webhook) });
named({ CreateWebhook, UpdateWebhook, Recovery, Webhook, WebhookWithSecret, WebhookList });

export const webhookDeliveryStatuses = ["pending", "success", "failed", "dead"] as const;

const deliveryMembers = {
  id: Text(),
  endpoint_id: Text(),
  event_type: Text(),
  event_id: Text(),
  subject_id: Nullable(Text()),
  attempt: Integer({ minimum: 0, maximum: 7, description: "requests made" }),
  status: Enum([...webhookDeliveryStatuses]),
  response_status: Nullable(Integer()),
  response_body_excerpt: Nullable(Text({ maxLength: 1000 })),
  error: Nullable(Text()),
  error_class: Nullable(Enum([...webhookErrorClasses])),
  duration_ms: Nullable(Integer()),
  next_retry_at: Nullable(DateTime),
  delivered_at: Nullable(DateTime),
  replay_of: Nullable(Text()),
  created_at: DateTime,
};

/** Item of the list of deliveries. Source: docs/reference/webhooks.md#delivery-status. */
export const WebhookDelivery = Type.Object(deliveryMembers);
export type WebhookDelivery = Static<typeof WebhookDelivery>;
export const WebhookDeliveryPage = PageOf(WebhookDelivery);

/** A delivery with what it says. */
export const WebhookDeliveryDetail = Type.Object({
  ...deliveryMembers,
  payload: Type.Object({}, { additionalProperties: true }),
});
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>;

/** One request that was made for a delivery. */
export const WebhookAttempt = Type.Object({
  at: DateTime,
  response_status: Nullable(Integer()),
  duration_ms: Integer(),
  error_class: Nullable(Enum([...webhookErrorClasses])),
  error: Nullable(Text()),
  response_body_excerpt: Nullable(Text({ maxLength: 1000 })),
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;
export const WebhookAttemptList = Type.Object({ data: List(WebhookAttempt) });
named({ WebhookDelivery, WebhookDeliveryPage, WebhookDeliveryDetail, WebhookAttempt, WebhookAttemptList });

export const webhookDeliveryPaging = pagingOf({ sort: "-created_at" });

/** Query of `GET …/webhooks/{webhookId}/deliveries`. */
export const WebhookDeliveryQuery = Type.Object({
  ...webhookDeliveryPaging.pageQuery,
  status: Optional(Enum([...webhookDeliveryStatuses])),
  event_type: Optional(Text({ maxLength: 64 })),
});
export type WebhookDeliveryQuery = Static<typeof WebhookDeliveryQuery>;

/** Body of `POST …/webhooks/{webhookId}/recover`. `until` defaults to now. */
export const RecoverWebhook = Closed({ since: DateTime, until: Optional(DateTime) });
export type RecoverWebhook = Static<typeof RecoverWebhook>;

/** Body of `POST …/webhooks/{webhookId}/replay`: every delivery of the window that fits is sent again. */
export const ReplayWebhook = Closed({
  since: DateTime,
  until: Optional(DateTime),
  status: Optional(Enum(["success", "failed", "dead"])),
  event_type: Optional(Text({ minLength: 1, maxLength: 64 })),
});
export type ReplayWebhook = Static<typeof ReplayWebhook>;

/** Body of `POST …/webhooks/preview`. Without `data` a sample event of the kind is used. */
export const PreviewWebhook = Closed({
  event_type: Enum([...eventKinds]),
  data: Optional(Type.Object({}, { additionalProperties: true, description: "at most 65,536 bytes of JSON" })),
  batch: Optional(Flag()),
  ...Partial(Closed(shaping)).properties,
});
export type PreviewWebhook = Static<typeof PreviewWebhook>;

/** What would be sent. Source: docs/reference/webhooks.md#preview. */
export const WebhookPreviewResult = Type.Object({
  payload: Type.Object({}, { additionalProperties: true }),
  matched: Flag(),
  failed_conditions: List(Type.Object({ field: Text(), op: Text(), value: Optional(Type.Unknown()) })),
  body: Nullable(
    Text({ description: "with the error INVALID_JSON what the template wrote; null when it wrote nothing" }),
  ),
  content_type: Text({ description: "the header, as it would be sent" }),
  error: Nullable(Type.Object({ code: Enum(["TEMPLATE_SYNTAX", "TEMPLATE_RENDER", "INVALID_JSON"]), message: Text() })),
});
export type WebhookPreviewResult = Static<typeof WebhookPreviewResult>;

const HealthWindow = Type.Object({
  requests: Integer({ minimum: 0 }),
  success_rate: Nullable(Decimal({ minimum: 0, maximum: 1, description: "null without requests" })),
  p50_ms: Nullable(Decimal({ description: "of all requests; upper bound of its histogram bucket" })),
  p99_ms: Nullable(Decimal()),
  last_error_class: Nullable(Enum([...webhookErrorClasses])),
});
export type HealthWindow = Static<typeof HealthWindow>;

/** Reply of `GET …/webhooks/{webhookId}/health`. */
export const WebhookHealthReport = Type.Object({
  status: Enum(["active", "failing", "disabled"]),
  failure_count: Integer(),
  last_hour: HealthWindow,
  last_day: HealthWindow,
});
export type WebhookHealthReport = Static<typeof WebhookHealthReport>;
named({ RecoverWebhook, ReplayWebhook, PreviewWebhook, WebhookPreviewResult, WebhookHealthReport });
