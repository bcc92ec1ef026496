import { Type } from "typebox";
import { Closed, Nullable } from "../json/common.ts";
import { type EventType, eventData, exampleRefs, examples } from "./refs.ts";

const { Array: List, Enum, String: Text, Unknown } = Type;

const campaign = (description: string, messageIds: readonly string[]): EventType => ({
  description,
  emitted: false,
  subject: ["campaign_id"],
  data: eventData(
    { always: ["campaign_id"] },
    { name: Text(), message_ids: List(Text(), { description: "notifications that it has made so far" }) },
  ),
  example: { ...exampleRefs("campaign_id"), name: "Spring", message_ids: messageIds },
});

export const campaignEvents = {
  "campaign.scheduled": campaign("A campaign was given its time.", []),
  "campaign.started": campaign("A campaign began to send.", [examples.message_id]),
  "campaign.completed": campaign("A campaign has sent everything.", [examples.message_id]),
};

const journey = (description: string, own: Record<string, unknown>): EventType => ({
  description,
  emitted: false,
  subject: ["user_id"],
  data: eventData(
    {
      always: ["journey_id", "user_id"],
      maybe: ["message_id", "delivery_id", "subscription_id", "external_id", "channel"],
    },
    {
      step_id: Nullable(Text()),
      step_type: Nullable(Text({ description: "message, wait, split, …" })),
      exit_reason: Nullable(Text()),
    },
  ),
  example: {
    ...exampleRefs("journey_id", "user_id", "external_id"),
    step_id: null,
    step_type: null,
    exit_reason: null,
    ...own,
  },
});

export const journeyEvents = {
  "journey.entered": journey("A user entered a journey.", {}),
  "journey.step_completed": journey("A user passed a step of a journey.", { step_id: "welcome", step_type: "message" }),
  "journey.completed": journey("A user reached a journey's end.", {}),
  "journey.exited": journey("A user left a journey before its end.", { exit_reason: "unsubscribed" }),
};

const AuditData = eventData(
  {},
  {
    actor: Closed({
      type: Enum(["api_key", "account", "system", "resource"]),
      id: Nullable(Text({ description: "`key_…` of an API key; of a custom resource its kind, namespace and name" })),
    }),
    action: Text({ description: "what was done: `<kind>.<verb>`, such as webhook.updated" }),
    target: Closed({ type: Text({ description: "kind of the thing, such as webhook" }), id: Text() }),
    changes: Type.Record(Text(), Closed({ before: Unknown(), after: Unknown() }), {
      description: "members that have another value now; secrets and header values never",
    }),
    ip: Nullable(Text({ description: "address that the request came from" })),
  },
);

export const accountEvents = {
  "audit.created": {
    description: "A setting was changed, through the REST interface or by a custom resource.",
    emitted: true,
    subject: ["target.id"],
    data: AuditData,
    example: {
      ...exampleRefs(),
      actor: { type: "api_key", id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" },
      action: "webhook.updated",
      target: { type: "webhook", id: "whk_01JDKQ4WSM1D4JZQ9F6TCY0EAV" },
      changes: { paused: { before: false, after: true } },
      ip: "192.0.2.10",
    },
  },
  "webhook.test": {
    description: "Somebody asked for a test of an endpoint. It goes to that one only and cannot be subscribed to.",
    emitted: true,
    subject: [],
    data: Closed({ message: Text() }),
    example: { message: "This is a test event. The endpoint works." },
  },
} satisfies Record<string, EventType>;
