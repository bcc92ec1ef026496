import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { conditional } from "#core/schema/json/common.ts";
import { showAs } from "#core/schema/json/show.ts";
import { Delivery } from "#core/schema/messages/delivery.ts";
import { Message } from "#core/schema/messages/message.ts";
import { type CreateNotification, contentNeeds } from "#core/schema/messages/notification.ts";
import { idSelectors } from "../audience/audience.ts";
import type { Docs, Json } from "../http/feature.ts";
import { lastPage, nextPage } from "../http/openapi/examples.ts";
import { changed, having, refused } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";
import { unsupportedMembers, unsupportedOfCard } from "./unsupported.ts";

const laterTime = "2026-11-21T12:00:02.345Z";

const message = showAs(Message, {
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
  counts: { targeted: 1, sent: 1 },
  requested_by: { type: "api_key", id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" },
  started_at: exampleTime,
  completed_at: laterTime,
  created_at: exampleTime,
  updated_at: laterTime,
});

const delivery = showAs(Delivery, {
  id: refs.delivery_id,
  message_id: refs.message_id,
  app_id: exampleAppId,
  subscription_id: refs.subscription_id,
  user_id: refs.user_id,
  external_id: refs.external_id,
  channel: "ios_push",
  address_masked: "•••9f3c01ab",
  status: "sent",
  provider: "apns",
  provider_message_id: "8B1A4F0E-6C3D-4E2B-9A57-0D1C2B3A4F5E",
  attempts: 1,
  uncertain: false,
  sent_at: laterTime,
  created_at: exampleTime,
  updated_at: laterTime,
});

const notifications: CreateNotification[] = [
  {
    app_id: exampleAppId,
    idempotency_key: "order-4711-shipped",
    name: "Order shipped",
    labels: ["orders"],
    target: { include_external_ids: [refs.external_id] },
    headings: { en: "On its way", de: "Unterwegs" },
    contents: { en: "Your parcel has left us.", de: "Dein Paket hat uns verlassen." },
    data: { order: "4711" },
    ttl: 86_400,
  },
  {
    app_id: exampleAppId,
    target: { include_external_ids: [refs.external_id], channels: ["ios_push", "android_push", "web_push"] },
    headings: { en: "2 : 1" },
    contents: { en: "Goal in the 89th minute." },
    collapse_id: "match-4711",
    big_picture: "https://example.com/goal.jpg",
    buttons: [{ id: "watch", text: "Watch", url: "https://example.com/matches/4711" }],
    app_url: "sports://matches/4711",
    url: "https://example.com/matches/4711",
    ios_badge_type: "Increase",
    ios_interruption_level: "time-sensitive",
    ios_relevance_score: 0.9,
    thread_id: "match-4711",
    android_channel_id: "goals",
    android_accent_color: "FF00AA11",
    android_visibility: 1,
    chrome_web_icon: "https://example.com/icon.png",
    require_interaction: true,
    priority: 10,
    ttl: 3_600,
  },
  {
    app_id: exampleAppId,
    target: { include_subscription_ids: [refs.subscription_id], channels: ["email"] },
    email_subject: "Your order",
    email_body: "<p>It is on its way.</p>",
    send_after: "2026-11-22T09:00:00+01:00",
  },
  {
    app_id: exampleAppId,
    target: { all: true },
    contents: { en: "Good morning" },
    delayed_option: "timezone",
    delivery_time_of_day: "9:00AM",
  },
  {
    app_id: exampleAppId,
    target: { include_external_ids: [refs.external_id], channels: ["sms"] },
    contents: { en: "Your parcel has left us: https://shop.example/orders/4711" },
    sms_from: "Shop",
  },
  {
    app_id: exampleAppId,
    target: { include_external_ids: [refs.external_id], channels: ["rcs"] },
    rcs_card: { title: { en: "Order 4711" }, media_url: "https://shop.example/parcel.jpg" },
    rcs_suggestions: [{ type: "reply", text: "Thank you", postback_data: "thanks-4711" }],
    rcs_fallback_text: { en: "Order 4711 has left us." },
  },
  {
    app_id: exampleAppId,
    target: { email_to: ["ada@example.com"], include_phone_numbers: ["+4915112345678"], channels: ["email", "sms"] },
    contents: { en: "Your code is 4711" },
    email_subject: "Your code",
    email_body: "<p>Your code is 4711.</p>",
  },
  {
    app_id: exampleAppId,
    target: { all: true, channels: ["email"] },
    email_subject: "What is new",
    email_preheader: "Three things of this week",
    email_mjml:
      "<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>",
  },
];

const contents = [
  "headings",
  "contents",
  "data",
  "content_available",
  "sms_media_urls",
  "rcs_card",
  "rcs_content_sid",
  "whatsapp_template",
  "whatsapp_media",
  "whatsapp_interactive",
];

/** Segments and a filter choose among everybody; an empty list of addresses is no target. */
const narrowing: Json[] = [
  ...(["email_to", "include_phone_numbers"] as const).map((name) => ({
    ...having(name),
    properties: { [name]: { minItems: 1 } },
  })),
  { ...having("included_segments"), properties: { included_segments: { minItems: 1 } } },
  { ...having("filters"), properties: { filters: { minProperties: 1 } } },
];

const target = (schema: Json): Json => ({
  ...schema,
  anyOf: [
    { ...having("all"), properties: { all: { const: true } } },
    ...idSelectors.map((name) => having(name)),
    ...narrowing,
  ],
});

const card = (schema: Json): Json => changed(schema, refused(unsupportedOfCard));

/** What the OpenAPI document says of notifications beside their operations. */
export const docs: Docs = {
  tags: { Notifications: "Messages to people on any channel: accepted at once, delivered in the background." },
  examples: {
    CreateNotification: notifications,
    CreateNotificationResult: [
      {
        id: refs.message_id,
        status: "queued",
        recipients_estimate: 1,
        external_id_missing: [],
        skipped_channels: [{ channel: "email", reason: "no_content" }],
      },
      {
        id: refs.message_id,
        status: "queued",
        recipients_estimate: 0,
        external_id_missing: ["nobody"],
        missing: { subscription_ids: [], aliases: { crm: ["A-0816"] } },
      },
    ],
    EstimateAudience: [
      { app_id: exampleAppId, target: { all: true, channels: ["email"] } },
      { app_id: exampleAppId, target: { all: true }, contents: { en: "Goal in the 89th minute." } },
    ],
    EstimateAudienceResult: [
      {
        recipients: 2,
        by_channel: { ios_push: 2 },
        skipped_channels: [{ channel: "email", reason: "no_content", recipients: 3 }],
        new_contacts: 0,
        external_id_missing: [],
      },
    ],
    Delivery: [delivery],
    DeliveryPage: [nextPage(delivery)],
    Message: [message],
    MessagePage: [lastPage(message)],
  },
  pathParameters: { messageId: pathPart("id of a notification", refs.message_id) },
  queryExamples: {
    label: "orders",
    category: "transactional",
    idempotency_key: "order-4711-shipped",
    campaign_id: refs.campaign_id,
    template_id: "tpl_01JDKQ4WSM1H6YJ8RPKD5QWF3T",
    variant_id: "a",
    subscription_id: refs.subscription_id,
    user_id: refs.user_id,
    external_id: refs.external_id,
    suppression_reason: "unsubscribed",
    uncertain: true,
  },
  narrowed: {
    EstimateAudience: (schema) => changed(schema, { ...refused(["custom_data"]), target, rcs_card: card }),
    CreateNotification: (schema) => ({
      ...changed(schema, {
        ...refused(unsupportedMembers),
        delayed_option: (member) => ({ ...member, enum: ["timezone"] }),
        target,
        rcs_card: card,
      }),
      anyOf: [
        ...contents.map((name) => having(name)),
        having("email_subject", "email_body"),
        having("email_subject", "email_mjml"),
        having("template_id"),
      ],
      // As the schema has it, in a form that tools can make requests from: they know no member that has to be absent, and
      // no `dependentRequired` beside a choice.
      allOf: [
        { anyOf: [having("template_id"), { type: "object", ...contentNeeds }] },
        conditional({ when: having("delivery_time_of_day"), require: having("delayed_option") }),
      ],
    }),
  },
};
