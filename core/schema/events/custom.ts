import { type Static, Type } from "typebox";
import { Closed, MapOf } from "../json/common.ts";
import { named } from "../json/named.ts";
import { worded } from "../json/patterns.ts";
import { eventKinds } from "./envelope.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Decimal, Optional, String: Text, Unknown } = Type;

/** Bounds of custom events. Source: docs/reference/events.md#custom-events. */
export const customEventLimits = {
  events: 1_000,
  nameCharacters: 100,
  propertyNames: 256,
  depth: 5,
  bytes: 32_768,
  daysBack: 30,
  minutesAhead: 5,
} as const;

/** A name as it is stored: nothing blank at its ends. */
export const eventNamePattern = worded("^\\S(.*\\S)?$", "must be one line without white space at its ends");

const noControls = worded("^[^\\u0000-\\u001f\\u007f]*$", "must not contain control characters");
const Id = Text({ minLength: 1, maxLength: 64, pattern: noControls });

/** Something that a user did, in the customer's own words. */
export const CustomEvent = Closed({
  id: Optional(
    Text({
      minLength: 1,
      maxLength: 128,
      pattern: noControls,
      description: "the sender's; within 24 h it counts once, after that it makes a new event",
    }),
  ),
  name: Text({
    minLength: 1,
    maxLength: customEventLimits.nameCharacters,
    pattern: worded(
      "^(?!\\s*(hs\\.|$))[^\\u0000-\\u001f\\u007f]*$",
      "must not be blank, begin with hs. or contain control characters",
    ),
    description: "kept without the spaces at its ends; names that begin with hs. are reserved",
  }),
  user_id: Optional(Id),
  external_id: Optional(
    Text({
      minLength: 1,
      maxLength: 255,
      pattern: noControls,
      description: "the user's id at the sender; not with user_id",
    }),
  ),
  subscription_id: Optional(Id),
  properties: Optional(
    MapOf(
      {
        minLength: 1,
        maxLength: 255,
        pattern: worded("^(?!(time|event_name)$)[^$]", "must not be time or event_name, or begin with $"),
      },
      Unknown(),
      {
        maxProperties: customEventLimits.propertyNames,
        description:
          `any JSON, objects and lists at most ${customEventLimits.depth} deep, this one counted; the event has at most ` +
          `${customEventLimits.bytes} bytes of JSON. The names time and event_name are reserved`,
      },
    ),
  ),
  value: Optional(Decimal({ description: "such as an amount" })),
  occurred_at: Optional(
    Type.String({
      format: "date-time",
      maxLength: 40,
      description: "default now; within the last 30 days; up to 5 min ahead counts as now",
    }),
  ),
});
export type CustomEvent = Static<typeof CustomEvent>;

/** Body of `POST /v1/apps/{appId}/events`. */
export const PublishEvents = Closed({
  events: List(CustomEvent, { minItems: 1, maxItems: customEventLimits.events }),
});
export type PublishEvents = Static<typeof PublishEvents>;

/** Why an event was refused or, with `DEFINITION_LIMIT`, is stored and not counted. */
export const eventErrorCodes = ["OCCURRED_AT_TOO_OLD", "OCCURRED_AT_IN_FUTURE", "DEFINITION_LIMIT"] as const;

/** Reply of `POST /v1/apps/{appId}/events`: what was refused does not delay the rest. */
export const EventsAccepted = Type.Object({
  accepted: Integer({ minimum: 0 }),
  duplicates: Integer({ minimum: 0, description: "events whose id has come within 24 h; they count as done" }),
  errors: List(
    Type.Object({
      index: Integer({ minimum: 0, description: "position in `events`" }),
      code: Enum([...eventErrorCodes], { description: "`DEFINITION_LIMIT`: it is accepted, and not counted" }),
      message: Text(),
    }),
  ),
});
export type EventsAccepted = Static<typeof EventsAccepted>;

/** Reply of `GET /v1/apps/{appId}/webhooks/event-types`. */
export const EventTypeList = Type.Object({
  data: List(
    Type.Object({
      type: Enum([...eventKinds]),
      description: Text({ description: "when it is emitted" }),
      emitted: Flag({ description: "whether anything in this release emits it" }),
      schema: Type.Object({}, { additionalProperties: true, description: "JSON Schema of `data`" }),
      example: Type.Object({}, { additionalProperties: true }),
    }),
  ),
});
export type EventTypeList = Static<typeof EventTypeList>;

named({ CustomEvent, PublishEvents, EventsAccepted, EventTypeList });
