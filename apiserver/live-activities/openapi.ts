import { exampleTime } from "#core/schema/events/refs.ts";
import type {
  CreateLiveActivityType,
  LiveActivityType,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { Docs, Json } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const activityProperty = {
  type: "string" as const,
  enum: ["packed", "shipped", "delivered"],
  description: "where the parcel is",
};

const activityType: LiveActivityType = {
  id: "lat_01JDKQ4WSM5Q8RDV2K7NXW0HTA",
  name: "OrderAttributes",
  description: "An order on its way",
  content_state_schema: { type: "object", properties: { status: activityProperty }, required: ["status"] },
  attributes_schema: { type: "object", properties: { order: { type: "string" } } },
  push_to_start_tokens: 0,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const { name, content_state_schema } = activityType;
const activityTypes: CreateLiveActivityType[] = [{ name, description: "An order", content_state_schema }];

const no = (...members: string[]) => Object.fromEntries(members.map((member) => [member, false]));
const values = (type: string) => ({ enum: { items: { type } } });

/** What a member of each type may say of its values. */
const ofTypes = {
  string: { ...no("minimum", "maximum"), ...values("string") },
  number: { ...no("minLength", "maxLength", "format"), ...values("number") },
  integer: { ...no("minLength", "maxLength", "format"), ...values("integer") },
  boolean: { ...no("minLength", "maxLength", "format", "minimum", "maximum"), ...values("boolean") },
};

/** A property with what fits its type. That its bounds are in order no schema can say. */
const fitting = (property: Json): Json => ({
  ...property,
  oneOf: Object.entries(ofTypes).map(([type, members]) => ({ properties: { type: { const: type }, ...members } })),
});

/** What the OpenAPI document says of live activities beside their operations. */
export const docs: Docs = {
  tags: { "Live activities": "Types of Live Activities, with the schemas that their payloads are checked against." },
  examples: {
    CreateLiveActivityType: activityTypes,
    LiveActivityProperty: [activityProperty],
    LiveActivityType: [activityType],
    LiveActivityTypeList: [{ data: [activityType] }],
    UpdateLiveActivityType: [{ description: null }] satisfies UpdateLiveActivityType[],
  },
  pathParameters: { activityType: pathPart("id or name of a live activity type", "OrderAttributes") },
  narrowed: { LiveActivityProperty: fitting },
};
