import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { exampleIds, lastPage, nextPage, profile } from "./example-parts.ts";
import { requestExamples } from "./request-examples.ts";
import { webhookExamples } from "./webhook-examples.ts";

const laterTime = "2026-11-21T12:00:02.345Z";

const message = {
  id: refs.message_id,
  app_id: exampleAppId,
  source: "api",
  status: "completed",
  idempotency_key: "order-4711-shipped",
  name: "Order shipped",
  content: { headings: { en: "On its way" }, contents: { en: "Your parcel has left us." } },
  target: { include_external_ids: [refs.external_id] },
  options: { ttl: 86_400 },
  labels: ["orders"],
  category: "transactional",
  template_id: null,
  campaign_id: null,
  variants: null,
  counts: { targeted: 1, sent: 1 },
  requested_by: { type: "api_key", id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" },
  error: null,
  scheduled_for: null,
  started_at: exampleTime,
  completed_at: laterTime,
  created_at: exampleTime,
  updated_at: laterTime,
};

const delivery = {
  id: refs.delivery_id,
  message_id: refs.message_id,
  app_id: exampleAppId,
  campaign_id: null,
  variant_id: null,
  activity_id: null,
  subscription_id: refs.subscription_id,
  user_id: refs.user_id,
  external_id: refs.external_id,
  channel: "ios_push",
  address_masked: "•••9f3c01ab",
  status: "sent",
  error_code: null,
  error_message: null,
  provider_code: null,
  suppression_reason: null,
  provider: "apns",
  provider_message_id: "8B1A4F0E-6C3D-4E2B-9A57-0D1C2B3A4F5E",
  attempts: 1,
  uncertain: false,
  sms_segments: null,
  scheduled_for: null,
  sent_at: laterTime,
  delivered_at: null,
  opened_at: null,
  clicked_at: null,
  failed_at: null,
  bounced_at: null,
  complained_at: null,
  unsubscribed_at: null,
  converted_at: null,
  expired_at: null,
  clicked_url: null,
  clicked_button_id: null,
  created_at: exampleTime,
  updated_at: laterTime,
};

const subscription = {
  id: refs.subscription_id,
  app_id: exampleAppId,
  user_id: refs.user_id,
  external_id: refs.external_id,
  channel: "ios_push",
  token_masked: "•••9f3c01ab",
  status: "subscribed",
  status_reason: null,
  language: null,
  test_device: false,
  device: { model: "iPhone17,1", os_version: "26.1" },
  last_active_at: exampleTime,
  unsubscribed_at: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const user = {
  id: refs.user_id,
  app_id: exampleAppId,
  ...profile,
  subscriptions: [subscription],
  first_seen_at: exampleTime,
  last_active_at: exampleTime,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const activityProperty = {
  type: "string",
  enum: ["packed", "shipped", "delivered"],
  description: "where the parcel is",
};

const activityType = {
  id: "lat_01JDKQ4WSM5Q8RDV2K7NXW0HTA",
  name: "OrderAttributes",
  description: "An order on its way",
  content_state_schema: { type: "object", properties: { status: activityProperty }, required: ["status"] },
  attributes_schema: { type: "object", properties: { order: { type: "string" } } },
  push_to_start_tokens: 0,
  created_at: exampleTime,
  updated_at: exampleTime,
};

/** At least one value of every schema that the document names, by its name. A test holds each against its schema. */
export const examples: Readonly<Record<string, readonly unknown[]>> = {
  ...requestExamples,
  ...webhookExamples,
  CreateNotificationResult: [
    { id: refs.message_id, status: "queued", recipients_estimate: 1, external_id_missing: [] },
    {
      id: refs.message_id,
      status: "queued",
      recipients_estimate: 0,
      external_id_missing: ["nobody"],
      missing: { subscription_ids: [], aliases: { crm: ["A-0816"] } },
    },
  ],
  Delivery: [delivery],
  DeliveryPage: [nextPage(delivery)],
  Error: [
    {
      error: {
        code: "HS_VALIDATION_ERROR",
        message: "ttl: must be at least 60",
        details: {
          field: "ttl",
          message: "must be at least 60",
          errors: [{ field: "ttl", message: "must be at least 60" }],
        },
        request_id: exampleIds.request,
      },
    },
    {
      error: {
        code: "HS_RATE_LIMITED",
        message: "this key's request rate is exhausted",
        details: { retry_after_seconds: 1 },
        request_id: exampleIds.request,
      },
    },
  ],
  EventTypeList: [
    {
      data: [
        {
          type: "user.deleted",
          description: "A user and his subscriptions were deleted.",
          emitted: true,
          schema: { type: "object", properties: { user_id: { type: "string" } } },
          example: { user_id: refs.user_id },
        },
      ],
    },
  ],
  EventsAccepted: [
    {
      accepted: 2,
      duplicates: 1,
      errors: [{ index: 3, code: "OCCURRED_AT_TOO_OLD", message: "must be within the last 30 days" }],
    },
  ],
  Health: [{ status: "ok" }],
  LiveActivityProperty: [activityProperty],
  LiveActivityType: [activityType],
  LiveActivityTypeList: [{ data: [activityType] }],
  Message: [message],
  MessagePage: [lastPage(message)],
  Ok: [{ ok: true }],
  Service: [{ name: "herald", version: "1.0.0", documentation: "docs/api.md", openapi: "/v1/openapi.json" }],
  Subscription: [subscription],
  User: [user],
};
