import type { CustomEvent, PublishEvents } from "#core/schema/events/custom.ts";
import type { EventDefinition, EventDefinitionDetail, UpdateEventDefinition } from "#core/schema/events/definition.ts";
import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const events: CustomEvent[] = [
  { id: "paid-4711", name: "order.paid", external_id: refs.external_id, value: 19.9, properties: { order: "4711" } },
];

const definition: EventDefinition = {
  id: "evd_01JDKQ4WSM3V9KX5TQZ1HB7RDN",
  app_id: exampleAppId,
  name: "order.paid",
  display_name: "Order paid",
  properties_schema: { order: "string", currency: "string" },
  is_conversion: true,
  outcome_unique: false,
  outcome_unattributed: true,
  retention_days: null,
  first_seen_at: exampleTime,
  last_seen_at: exampleTime,
  count_30d: 1,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const detail: EventDefinitionDetail = {
  ...definition,
  daily: [{ date: exampleTime.slice(0, 10), count: 1, users: 1 }],
  properties: [
    { key: "order", type: "string", values: [] },
    { key: "currency", type: "string", values: [{ value: "EUR", count: 1 }] },
  ],
};

/** What the OpenAPI document says of events beside their operations. */
export const docs: Docs = {
  examples: {
    CustomEvent: events,
    PublishEvents: [{ events }] satisfies PublishEvents[],
    EventDefinition: [definition],
    EventDefinitionDetail: [detail],
    EventDefinitionPage: [lastPage(definition)],
    UpdateEventDefinition: [{ is_conversion: true, retention_days: 90 }] satisfies UpdateEventDefinition[],
    EventTypeList: [
      {
        data: [
          {
            type: "user.deleted",
            description: "A user and their subscriptions were deleted.",
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
  },
  pathParameters: { name: pathPart("name of events", definition.name) },
};
