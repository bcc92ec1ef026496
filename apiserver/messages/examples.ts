import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { showAs } from "#core/schema/json/show.ts";
import { Delivery, type DeliveryTry } from "#core/schema/messages/delivery.ts";
import { type CreateNotificationResult, Message } from "#core/schema/messages/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { TimelineEntry } from "#core/schema/messages/timeline.ts";
import type { NotificationValidated } from "#core/schema/messages/validate.ts";

const laterTime = "2026-11-21T12:00:02.345Z";

export const message = showAs(Message, {
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

export const delivery = showAs(Delivery, {
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

export const notifications: CreateNotification[] = [
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
    target: { all: true, channels: ["ios_push"] },
    contents: { en: "The sale has begun." },
    variants: [
      { name: "plain", weight_percent: 45 },
      { name: "urgent", weight_percent: 45, contents: { en: "Only today: the sale." } },
      { name: "nothing", weight_percent: 10, is_control: true },
    ],
    winner: { metric: "click_rate", after_minutes: 120, test_percent: 20 },
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

export const accepted: CreateNotificationResult = {
  id: refs.message_id,
  status: "queued",
  recipients_estimate: 1,
  external_id_missing: [],
  skipped_channels: [{ channel: "email", reason: "no_content" }],
};

export const tries: DeliveryTry[] = [
  {
    at: exampleTime,
    provider: "apns",
    status: "retried",
    code: "PROVIDER_UNAVAILABLE",
    provider_code: "503",
    answer: "the provider is overloaded",
  },
  { at: laterTime, provider: "apns", status: "sent", code: null, provider_code: null, answer: null },
];

export const timeline: TimelineEntry[] = [
  {
    at: exampleTime,
    state: "queued",
    cause: "accepted",
    actor: { type: "api_key", id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" },
  },
  { at: laterTime, state: "processing", cause: "begun", actor: { type: "system" } },
];

export const validated: NotificationValidated = {
  valid: true,
  errors: [],
  warnings: [{ field: "target.include_external_ids", message: "1 are nobody's" }],
  recipients: 2,
  channels: [
    {
      channel: "ios_push",
      languages: [
        {
          language: null,
          bytes: 94,
          limit_bytes: 4_096,
          payload: { aps: { alert: { title: "On its way", body: "Your parcel has left us." } } },
          missing_variables: [],
        },
      ],
    },
  ],
  skipped_channels: [{ channel: "email", reason: "no_content" }],
  schedule: [{ at: exampleTime, recipients: 2, zones: ["Europe/Berlin"] }],
  zone_unknown: 0,
  local_time_missed: 0,
  quiet_hours: { moved: 0, dropped: 0 },
  as: null,
};
