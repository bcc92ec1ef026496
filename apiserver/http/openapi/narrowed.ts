import { allDefinitions } from "#core/channels/all.ts";
import { sendableChannels } from "#core/schema/vocabulary/channels.ts";
import { selectors } from "../../messages/draft.ts";
import { unsupportedMembers, unsupportedTargets } from "../../messages/unsupported.ts";

type Json = Record<string, unknown>;

/**
 * Narrows the schemas of requests to what is taken: what this release refuses by name, and what the checks behind a
 * schema ask for as well. They stay checks, as they say better what is missing.
 */
export const narrowed = (schemas: Record<string, Json>): Record<string, Json> => ({
  ...schemas,
  CreateNotification: {
    ...changed(schemas["CreateNotification"], { ...refused(unsupportedMembers), target }),
    anyOf: [...contents.map((name) => having(name)), having("email_subject", "email_body")],
  },
  CreateSubscription: { ...changed(schemas["CreateSubscription"], { channel: sendable }), oneOf: addresses },
  CreateWebhook: { ...schemas["CreateWebhook"], anyOf: customEventsByName },
  UpsertUser: { ...schemas["UpsertUser"], anyOf: [having("external_id"), oneAlias] },
});

type Change = (member: Json) => Json;

const changed = (schema: unknown, changes: Record<string, Change>): Json => {
  const { properties, ...rest } = schema as { properties: Record<string, Json> }; // sound: schemas of objects
  const members = Object.entries(properties).map(([name, member]) => [name, changes[name]?.(member) ?? member]);
  return { ...rest, properties: Object.fromEntries(members) as Json };
};

const refused = (names: readonly string[]): Record<string, Change> =>
  Object.fromEntries(names.map((name) => [name, () => ({ not: {}, description: "not supported by this release" })]));

const having = (...required: string[]): Json => ({ type: "object", required });

const contents = ["headings", "contents", "data", "content_available"];

const target: Change = (schema) => ({
  ...changed(schema, {
    ...refused(unsupportedTargets),
    channels: (channels) => ({ ...channels, items: sendable(channels["items"]) }),
  }),
  anyOf: [{ ...having("all"), properties: { all: { const: true } } }, ...selectors.map((name) => having(name))],
});

const sendable = (channel: unknown): Json => ({
  ...(channel as Json), // sound: the schema of a channel's name
  enum: [...sendableChannels],
  description: "the channels of this release",
});

const oneAlias = { ...having("aliases"), properties: { aliases: { type: "object", minProperties: 1 } } };

const addresses = allDefinitions.map(({ name, address }) => ({
  type: "object",
  properties: { channel: { const: name }, token: { type: "string", ...address.schema } },
}));

const customEventsByName = [
  { type: "object", properties: { events: { not: { contains: { const: "event.received" } } } } },
  {
    ...having("event_filters"),
    properties: { event_filters: { ...having("event_names"), properties: { event_names: { minItems: 1 } } } },
  },
];
