import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

/** Bounds of event definitions. Source: docs/reference/events.md#definitions. */
export const definitionLimits = {
  /** Of an app. */
  definitions: 1_000,
  /** Keys of `properties_schema`. */
  keys: 300,
  /** Rows of `daily`, UTC days, today included. */
  days: 30,
  /** Values that are shown of a property. */
  values: 20,
  displayNameCharacters: 200,
  retentionDays: 730,
} as const;

/** What a property has been. Source: docs/reference/events.md#types-of-properties. */
export const propertyTypes = ["string", "number", "boolean", "datetime", "array", "object", "null", "mixed"] as const;
export type PropertyType = (typeof propertyTypes)[number];

const members = {
  id: Text(),
  app_id: Text(),
  name: Text(),
  display_name: Nullable(Text()),
  properties_schema: Type.Record(Text(), Enum([...propertyTypes]), {
    description: `type of each property that was seen, of ${definitionLimits.keys} at most`,
  }),
  is_conversion: Flag({ description: "whether its events make conversions, from when this was set" }),
  outcome_unique: Flag({ description: "only the first of a user and message counts" }),
  outcome_unattributed: Flag({ description: "whether events that no message led to make conversions, too" }),
  retention_days: Nullable(Integer({ description: "days that its events are kept; null: as the plan says" })),
  first_seen_at: DateTime,
  last_seen_at: DateTime,
  count_30d: Integer({ description: "events of the last 30 UTC days, today included; some seconds behind" }),
  created_at: DateTime,
  updated_at: DateTime,
};

/** A name under which events came. Source: docs/reference/events.md#definitions. */
export const EventDefinition = Type.Object(members);
export type EventDefinition = Static<typeof EventDefinition>;

/** The same with its counts. */
export const EventDefinitionDetail = Type.Object({
  ...members,
  daily: List(
    Type.Object({
      date: Text({ description: "UTC day, `YYYY-MM-DD`" }),
      count: Integer(),
      users: Integer({ description: "different people of that day" }),
    }),
    { description: `the last ${definitionLimits.days} days, oldest first` },
  ),
  properties: List(
    Type.Object({
      key: Text(),
      type: Enum([...propertyTypes]),
      values: List(Type.Object({ value: Text(), count: Integer() }), {
        description: "most frequent values of the last 30 days; none of a property that may hold personal data",
      }),
    }),
  ),
});
export type EventDefinitionDetail = Static<typeof EventDefinitionDetail>;

/** Body of `PATCH /v1/apps/{appId}/events/definitions/{name}`. */
export const UpdateEventDefinition = Closed({
  display_name: Optional(Nullable(Text({ minLength: 1, maxLength: definitionLimits.displayNameCharacters }))),
  is_conversion: Optional(Flag()),
  outcome_unique: Optional(Flag()),
  outcome_unattributed: Optional(Flag()),
  retention_days: Optional(
    Nullable(
      Integer({
        minimum: 1,
        maximum: definitionLimits.retentionDays,
        description: "at most what the plan keeps; null: as the plan says",
      }),
    ),
  ),
});
export type UpdateEventDefinition = Static<typeof UpdateEventDefinition>;

/** Pages are in the order of names. */
export const definitionPaging = pagingOf({ standard: 500, most: 500, keys: ["name"], sort: "name" });

/** Query of `GET /v1/apps/{appId}/events/definitions`. */
export const EventDefinitionListQuery = Type.Object(definitionPaging.pageQuery);
export type EventDefinitionListQuery = Static<typeof EventDefinitionListQuery>;

/** Its reply. */
export const EventDefinitionPage = PageOf(EventDefinition);

named({ EventDefinition, EventDefinitionDetail, EventDefinitionPage, UpdateEventDefinition });
