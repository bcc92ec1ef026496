import { swiftOf } from "#core/domain/live-activities/swift.ts";
import { exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { LiveActivity } from "#core/schema/live-activities/activity.ts";
import type { CreateLiveActivityChannel, LiveActivityChannel } from "#core/schema/live-activities/channel.ts";
import type { ForgetToken, SetActivityToken, SetStartToken } from "#core/schema/live-activities/device-tokens.ts";
import type {
  EndLiveActivity,
  LiveActivitySendResult,
  LiveActivityToken,
  StartLiveActivity,
  UpdateLiveActivity,
} from "#core/schema/live-activities/requests.ts";
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
  platforms: ["ios", "android"],
  frequent_updates: false,
  push_to_start_tokens: 0,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const { name, content_state_schema } = activityType;
const activityTypes: CreateLiveActivityType[] = [
  { name, description: "An order", content_state_schema, platforms: ["ios", "android"] },
];

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

const activity_id = "order-4711";
const starts: StartLiveActivity[] = [
  {
    activity_id,
    attributes: { order: "4711" },
    content_state: { status: "packed" },
    target: { include_external_ids: [refs.external_id] },
    alert: { title: { en: "Your order is packed" } },
  },
];
const updates: UpdateLiveActivity[] = [
  { activity_id, content_state: { status: "shipped" }, stale_date: 1_795_350_000 },
];
const ends: EndLiveActivity[] = [
  { activity_id, content_state: { status: "delivered" }, dismissal_date: 1_795_353_600 },
];
const sent: LiveActivitySendResult[] = [
  { message_id: refs.message_id, activity_id, event: "update", recipients_estimate: 1 },
];

const token = "5f2c".repeat(20);
const reported: LiveActivityToken[] = [
  { kind: "start", activity_type: "OrderAttributes", token },
  { kind: "update", activity_id, token },
];

const channel: LiveActivityChannel = {
  id: "lac_01JDKQ4WSM8V5CRA2E9MHX3TNB",
  status: "ready",
  apns_channel_id: "dHN0LXNyY2gtY2hubA==",
  activity_id: null,
  stores_latest: true,
  error: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const shown: LiveActivity = {
  activity_id,
  activity_type: "OrderAttributes",
  status: "running",
  attributes: { order: "4711" },
  content_state: { status: "shipped" },
  recipients: { starting: 0, active: 1, ended: 0, lost: 0, failed: 0 },
  last_update_at: exampleTime,
  started_at: exampleTime,
  ends_at: "2026-11-22T00:00:00.123Z",
  ended_at: null,
  history: [
    {
      message_id: refs.message_id,
      event: "update",
      status: "completed",
      content_state: { status: "shipped" },
      priority: 10,
      is_superseded: false,
      created_at: exampleTime,
    },
  ],
};

/** What the OpenAPI document says of live activities beside their operations. */
export const docs: Docs = {
  tags: { "Live activities": "Types of Live Activities, with the schemas that their payloads are checked against." },
  examples: {
    SetStartToken: [{ token }, { token, environment: "production" }] satisfies SetStartToken[],
    SetActivityToken: [{ token, state: "active" }] satisfies SetActivityToken[],
    ForgetToken: [{}] satisfies ForgetToken[],
    CreateLiveActivityType: activityTypes,
    EndLiveActivity: ends,
    LiveActivityProperty: [activityProperty],
    CreateLiveActivityChannel: [{}, { stores_latest: false }] satisfies CreateLiveActivityChannel[],
    LiveActivity: [shown],
    LiveActivityChannel: [channel],
    LiveActivityChannelList: [{ data: [channel] }],
    LiveActivitySendResult: sent,
    LiveActivitySwift: [{ file_name: "OrderAttributes.swift", source: swiftOf(activityType) }],
    LiveActivityToken: reported,
    LiveActivityType: [activityType],
    LiveActivityTypeList: [{ data: [activityType] }],
    StartLiveActivity: starts,
    UpdateLiveActivity: updates,
    UpdateLiveActivityType: [{ description: null }] satisfies UpdateLiveActivityType[],
  },
  pathParameters: {
    channelId: pathPart("id of a broadcast channel", channel.id),
    activityId: pathPart("a live activity, as its start named it", activity_id),
    subscriptionId: pathPart("id of a subscription", refs.subscription_id),
    activityType: pathPart("id or name of a live activity type", "OrderAttributes"),
  },
  queryExamples: { force: true },
  narrowed: { LiveActivityProperty: fitting },
};
