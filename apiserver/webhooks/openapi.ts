import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { WebhookFilters } from "#core/schema/webhooks/filters.ts";
import {
  type CreateWebhook,
  type PreviewWebhook,
  type RecoverWebhook,
  Recovery,
  type ReplayWebhook,
  type UpdateWebhook,
  Webhook,
  WebhookDelivery,
} from "#core/schema/webhooks/webhook.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { changed, having } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";
import { fittingValues, ownHeaders } from "./openapi-rules.ts";

const webhookId = "whk_01JDKQ4WSM8B2TNQ6Z9YFJ5RCE";
const deliveryId = "whd_01JDKQ4WSM3V7XKC1H0EPB9GDS";

const filters: WebhookFilters = { match: "all", conditions: [{ field: "data.channel", op: "eq", value: "ios_push" }] };

const recovery = showAs(Recovery, {
  id: "rec_01JDKQ4WSM9C4YTB6W2HZE8GVN",
  status: "running",
  since: "2026-11-21T06:00:00.000Z",
  until: exampleTime,
  replayed: 120,
  requested_at: exampleTime,
});

const webhook = showAs(Webhook, {
  id: webhookId,
  app_id: exampleAppId,
  url: "https://shop.example.com/hooks",
  description: "Orders",
  events: ["delivery.failed", "event.received"],
  event_filters: { event_names: ["order.paid"] },
  batch: false,
  status: "active",
  paused: false,
  failure_count: 0,
  last_success_at: exampleTime,
  header_names: ["X-Shop-Key"],
  body_content_type: "application/json",
  filters,
  max_in_flight: 10,
  timeout_ms: 10_000,
  created_at: exampleTime,
  updated_at: exampleTime,
});

const answer = {
  response_status: 503,
  response_body_excerpt: "try later",
  error: "answered 503",
  error_class: "server_error" as const,
  duration_ms: 87,
};

const webhookDelivery = showAs(WebhookDelivery, {
  id: deliveryId,
  endpoint_id: webhookId,
  event_type: "delivery.failed",
  event_id: "evt_01JDKQ4WSM5H2TVC8P0NYA7KZD",
  subject_id: refs.delivery_id,
  attempt: 1,
  status: "failed",
  ...answer,
  next_retry_at: "2026-11-21T12:01:03.000Z",
  created_at: exampleTime,
});

const payload = {
  id: "evt_01JDKQ4WSM5H2TVC8P0NYA7KZD",
  type: "delivery.failed",
  timestamp: exampleTime,
  app_id: exampleAppId,
  subject_id: refs.delivery_id,
  api_version: "1.0",
  data: { delivery_id: refs.delivery_id, error_code: "TOKEN_UNREGISTERED" },
};

const { url, events, event_filters } = webhook;
const webhooks: CreateWebhook[] = [{ url, events, event_filters, headers: { "X-Shop-Key": "s3cret" } }];

const previews: PreviewWebhook[] = [
  {
    event_type: "event.received",
    data: { name: "order.paid", value: 19.9 },
    body_template: '{"text": {{ data.name | json }}}',
  },
];

const since = "2026-11-21T06:00:00.000Z";

const customEventsByName = [
  { type: "object", properties: { events: { not: { contains: { const: "event.received" } } } } },
  {
    ...having("event_filters"),
    properties: { event_filters: { ...having("event_names"), properties: { event_names: { minItems: 1 } } } },
  },
];

/** What the OpenAPI document says of webhooks beside their operations. */
export const docs: Docs = {
  tags: { Webhooks: "Endpoints that are told what happens, their deliveries, and sending again." },
  examples: {
    CreateWebhook: webhooks,
    PreviewWebhook: previews,
    RecoverWebhook: [{ since }] satisfies RecoverWebhook[],
    ReplayWebhook: [{ since, status: "dead" }] satisfies ReplayWebhook[],
    UpdateWebhook: [{ paused: true }] satisfies UpdateWebhook[],
    Recovery: [recovery],
    Webhook: [webhook],
    WebhookAttempt: [{ at: exampleTime, ...answer }],
    WebhookAttemptList: [{ data: [{ at: exampleTime, ...answer }] }],
    WebhookDelivery: [webhookDelivery],
    WebhookDeliveryDetail: [{ ...webhookDelivery, payload }],
    WebhookDeliveryPage: [lastPage(webhookDelivery)],
    WebhookFilters: [filters],
    WebhookHealthReport: [
      {
        status: "active",
        failure_count: 0,
        last_hour: { requests: 1_200, success_rate: 0.999, p50_ms: 50, p99_ms: 250, last_error_class: "timeout" },
        last_day: { requests: 0, success_rate: null, p50_ms: null, p99_ms: null, last_error_class: null },
      },
    ],
    WebhookList: [{ data: [webhook] }],
    WebhookPreviewResult: [
      {
        payload,
        matched: true,
        failed_conditions: [],
        body: JSON.stringify(payload),
        content_type: "application/json",
        error: null,
      },
    ],
    WebhookWithSecret: [{ ...webhook, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7hFMYkYzyH8=" }],
  },
  pathParameters: {
    webhookId: pathPart("id of a webhook", webhookId),
    deliveryId: pathPart("id of a delivery to a webhook", deliveryId),
  },
  queryExamples: { event_type: "delivery.sent" },
  narrowed: {
    CreateWebhook: (schema) => ({ ...changed(schema, { headers: ownHeaders }), anyOf: customEventsByName }),
    UpdateWebhook: (schema) => changed(schema, { headers: ownHeaders }),
    WebhookFilters: fittingValues,
  },
};
