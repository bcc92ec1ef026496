import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";
import type { InAppVariant } from "#core/schema/in-app-messages/content.ts";
import type {
  InAppEvent,
  InAppForDevice,
  InAppMessageCounts,
  ShownInApp,
} from "#core/schema/in-app-messages/device.ts";
import type {
  CreateInAppMessage,
  InAppMessage,
  UpdateInAppMessage,
} from "#core/schema/in-app-messages/in-app-message.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const variant: InAppVariant = {
  id: "a",
  weight_percent: 100,
  content: {
    layout: "modal",
    title: { en: "Free delivery this week", de: "Diese Woche ohne Versandkosten" },
    body: { en: "On every order above 20 €." },
    image_url: "https://shop.example/delivery.png",
    buttons: [
      { id: "start", text: { en: "Show me" }, action: "open", url: "https://shop.example/offers" },
      { id: "later", text: { en: "Later" }, action: "dismiss" },
    ],
    background: "#ffffff",
  },
};

const message: InAppMessage = {
  id: "iam_01JDKQ4WSM3F7KPD1Y5WBX8RGT",
  app_id: exampleAppId,
  name: "Free delivery",
  status: "active",
  target: { included_segments: [], excluded_segments: [] },
  triggers: [{ session: true }, { event: "cart.viewed", property: "total", op: "gte", value: 20 }],
  redisplay: { limit: 3, after_hours: 24 },
  priority: 10,
  start_at: exampleTime,
  end_at: null,
  variants: [variant],
  managed: false,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const created: CreateInAppMessage[] = [
  { name: message.name, variants: [variant] },
  {
    name: "Welcome",
    status: "active",
    triggers: message.triggers,
    redisplay: message.redisplay,
    priority: 10,
    variants: [
      { ...variant, weight_percent: 50 },
      { id: "b", weight_percent: 50, content: { layout: "banner", body: { en: "Delivery is free this week" } } },
    ],
  },
];

const updated: UpdateInAppMessage[] = [{ status: "paused" }, { end_at: exampleTime, priority: 0 }];

const shown: ShownInApp = {
  id: message.id,
  variant_id: variant.id,
  content: {
    layout: "modal",
    title: "Free delivery this week",
    body: "On every order above 20 €.",
    image_url: null,
    buttons: [{ id: "start", text: "Show me", action: "open", url: "https://shop.example/offers" }],
    background: "#ffffff",
  },
  variants: [{ id: variant.id, weight_percent: 100 }],
  triggers: message.triggers,
  redisplay: message.redisplay,
  priority: 10,
  start_at: exampleTime,
  end_at: null,
  updated_at: exampleTime,
};

const counts: InAppMessageCounts = {
  variants: [
    {
      variant_id: variant.id,
      impressions: 1_210,
      page_impressions: 0,
      clicks: 322,
      dismissals: 641,
      first_impressions: 980,
      first_clicks: 311,
    },
  ],
};

const reported: InAppEvent[] = [
  { type: "impression", variant_id: variant.id, first: true },
  { type: "clicked", variant_id: variant.id, click_id: "start" },
];

/** What the OpenAPI document says of in-app messages beside their operations. */
export const docs: Docs = {
  tags: { "In-app messages": "What apps show to people while they use them." },
  examples: {
    InAppMessage: [message],
    InAppMessagePage: [lastPage(message)],
    CreateInAppMessage: created,
    UpdateInAppMessage: updated,
    InAppForDevice: [{ messages: [shown], ids: [message.id], as_of: exampleTime }] satisfies InAppForDevice[],
    InAppEvent: reported,
    InAppEventAccepted: [{ event_id: "evt_01JDKQ4WSM3F7KPD1Y5WBX8RGT" }],
    InAppMessageCounts: [counts],
    InAppTrigger: message.triggers,
    InAppVariant: [variant],
  },
  queryExamples: { since: exampleTime },
  pathParameters: { inAppMessageId: pathPart("id of an in-app message", message.id) },
};
