import { Type } from "typebox";
import { ChannelName, Closed, Nullable } from "../json/common.ts";

/** What is known of a kind of event: drives the catalogue, its page, samples and tests. */
export type EventType = {
  /** When it is emitted. */
  description: string;
  /** Whether anything in this release emits it. */
  emitted: boolean;
  /** Members of `data`, as dot paths: the envelope's `subject_id` is the first of them that is set, else null. */
  subject: readonly string[];
  /** Closed: every member that `data` can have. */
  data: Type.TObject;
  /** A `data` that fits its schema, about one made-up case. */
  example: Record<string, unknown>;
};

/** What every event's `data` refers to. Source: docs/reference/events.md#data. */
const references = {
  message_id: Type.String({ description: "notification, `msg_…`" }),
  campaign_id: Type.String({ description: "campaign of the notification" }),
  journey_id: Type.String({ description: "journey of the notification" }),
  delivery_id: Type.String({ description: "`dlv_…`" }),
  subscription_id: Type.String({ description: "`sub_…`" }),
  user_id: Type.String({ description: "`usr_…`" }),
  external_id: Type.String({ description: "the user's id in the customer's system" }),
  channel: ChannelName,
};

export type Reference = keyof typeof references;

/** Closed `data` of a kind: the references that are always set, those that may be null, null for the rest; then its own. */
export const eventData = (
  { always = [], maybe = [] }: { always?: readonly Reference[]; maybe?: readonly Reference[] },
  own: Type.TProperties = {},
): Type.TObject => {
  const refs = Object.entries(references).map(([name, schema]) => {
    if ((always as readonly string[]).includes(name)) return [name, schema] as const;
    return [name, (maybe as readonly string[]).includes(name) ? Nullable(schema) : notApplicable] as const;
  });
  return Closed({ ...Object.fromEntries(refs), ...own });
};

const notApplicable = Type.Null({ description: "does not apply to this kind" });

/** Every reference, for what refers to nothing. */
export const noReferences: Readonly<Record<Reference, null>> = {
  message_id: null,
  campaign_id: null,
  journey_id: null,
  delivery_id: null,
  subscription_id: null,
  user_id: null,
  external_id: null,
  channel: null,
};

/** The references of an example; those not given are null. */
export const exampleRefs = (...named: readonly Reference[]): Record<Reference, string | null> => {
  const refs = Object.entries(examples).map(([name, value]) => [
    name,
    named.includes(name as Reference) ? value : null,
  ]);
  return Object.fromEntries(refs) as Record<Reference, string | null>; // sound: one for each reference
};

/** The case that all examples are about. */
export const examples = {
  message_id: "msg_01JDKQ4WSM5E1TB3V0C9XZ7A2N",
  campaign_id: "cmp_01JDKQ4WSM1H6YJ8RPKD5QWF3T",
  journey_id: "jrn_01JDKQ4WSM9P2VXN4B7GZE6CKA",
  delivery_id: "dlv_01JDKQ4WSM7R0DMS3H8TQY5WFB",
  subscription_id: "sub_01JDKQ4WSM4C8NGZ6J1XKV2EPR",
  user_id: "usr_01JDKQ4WSM2A9WTF5Q0BHM6DYS",
  external_id: "customer-4711",
  channel: "ios_push",
} as const satisfies Record<Reference, string>;

export const exampleAppId = "app_01JDKQ4WSM6T3EYB8K5NRC1VHX";
export const exampleTime = "2026-11-21T12:00:00.000Z";
