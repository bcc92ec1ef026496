import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { conditional } from "#core/schema/json/common.ts";
import { contentNeeds } from "#core/schema/messages/notification.ts";
import { idSelectors } from "../audience/audience.ts";
import type { Docs, Json } from "../http/feature.ts";
import { lastPage, nextPage } from "../http/openapi/examples.ts";
import { changed, having, refused } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";
import { accepted, delivery, message, notifications, timeline, tries, validated } from "./examples.ts";
import { unsupportedOfCard } from "./unsupported.ts";

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

/** What a control needs stands in the reference: testers make no requests of so many conditions at once. */
const timeNeeds = conditional({ when: having("delivery_time_of_day"), require: having("delayed_option") });

const card = (schema: Json): Json => changed(schema, refused(unsupportedOfCard));

/** What the OpenAPI document says of notifications beside their operations. */
export const docs: Docs = {
  tags: { Notifications: "Messages to people on any channel: accepted at once, delivered in the background." },
  examples: {
    CreateNotification: notifications,
    CreateNotificationResult: [
      accepted,
      {
        id: refs.message_id,
        status: "queued",
        recipients_estimate: 0,
        external_id_missing: ["nobody"],
        missing: { subscription_ids: [], aliases: { crm: ["A-0816"] } },
      },
    ],
    ValidateNotification: notifications.slice(0, 1),
    RenderedLanguage: validated.channels.flatMap(({ languages }) => languages),
    NotificationValidated: [validated],
    NotificationBatch: [{ notifications: notifications.slice(0, 2) }],
    BatchedNotification: [{ index: 0, status: 202, replayed: false, body: accepted }],
    NotificationsBatched: [
      {
        results: [
          { index: 0, status: 202, replayed: false, body: accepted },
          {
            index: 1,
            status: 400,
            replayed: false,
            body: {
              error: {
                code: "HS_VALIDATION_ERROR",
                message: "target: must name whom to send to",
                details: { field: "target", message: "must name whom to send to", errors: [] },
                request_id: "req_01JDKQ4WSM5F7Y1XJZQ4R8PC6N",
              },
            },
          },
        ],
      },
    ],
    EstimateAudience: [
      { app_id: exampleAppId, target: { all: true, channels: ["email"] } },
      { app_id: exampleAppId, target: { all: true }, contents: { en: "Goal in the 89th minute." } },
      { app_id: exampleAppId, target: { all: true }, delayed_option: "timezone", delivery_time_of_day: "9:00" },
    ],
    EstimateAudienceResult: [
      {
        recipients: 2,
        by_channel: { ios_push: 2 },
        schedule: [{ at: exampleTime, recipients: 2, zones: ["Europe/Berlin"] }],
        zone_unknown: 0,
        local_time_missed: 0,
        quiet_hours: { moved: 1, dropped: 0 },
        skipped_channels: [{ channel: "email", reason: "no_content", recipients: 3 }],
        new_contacts: 0,
        external_id_missing: [],
      },
    ],
    Delivery: [delivery],
    DeliveryTry: tries,
    DeliveryWithTries: [{ ...delivery, attempts: 2, tries }],
    TimelineEntry: timeline,
    MessageTimeline: [{ data: timeline }],
    DeliveryPage: [nextPage(delivery)],
    Message: [message],
    MessagePage: [lastPage(message)],
  },
  pathParameters: {
    messageId: pathPart("id of a notification", refs.message_id),
    messageDeliveryId: pathPart("id of a delivery", refs.delivery_id),
  },
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
    force: true,
    as: refs.external_id,
  },
  narrowed: {
    EstimateAudience: (schema) => ({
      ...changed(schema, {
        ...refused(["custom_data"]),
        target,
        rcs_card: card,
      }),
      allOf: [...contentNeeds.allOf, timeNeeds],
    }),
    CreateNotification: (schema) => ({
      ...changed(schema, {
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
      allOf: [{ anyOf: [having("template_id"), { type: "object", ...contentNeeds }] }, timeNeeds],
    }),
  },
};
