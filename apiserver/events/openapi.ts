import type { CustomEvent, PublishEvents } from "#core/schema/events/custom.ts";
import { examples as refs } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";

const events: CustomEvent[] = [
  { id: "paid-4711", name: "order.paid", external_id: refs.external_id, value: 19.9, properties: { order: "4711" } },
];

/** What the OpenAPI document says of events beside their operations. */
export const docs: Docs = {
  tags: { Events: "Custom events of an app, and the kinds of events that endpoints can ask for." },
  examples: {
    CustomEvent: events,
    PublishEvents: [{ events }] satisfies PublishEvents[],
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
};
