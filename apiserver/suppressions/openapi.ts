import { definitions } from "#core/channels/all.ts";
import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import { showAs } from "#core/schema/json/show.ts";
import {
  type CreateSuppression,
  Suppression,
  type SuppressionEntry,
  suppressionReasons,
  suppressionSources,
} from "#core/schema/suppressions/suppression.ts";
import { contactChannels } from "#core/schema/vocabulary/channels.ts";
import type { Docs, Json } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { having } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const suppression = showAs(Suppression, {
  id: "sup_01JDKQ4WSM7Y2HDB9C4TNEQ0KF",
  app_id: exampleAppId,
  channel: "email",
  address: "anna@example.com",
  user_id: refs.user_id,
  reason: "unsubscribe",
  source: "api",
  categories: ["news"],
  note: "asked by phone",
  removable: true,
  created_at: exampleTime,
  updated_at: exampleTime,
});

const added = {
  created: 1,
  existing: 1,
  errors: [{ index: 2, field: "address", message: "must be an e-mail address" }],
};

const address: SuppressionEntry = { channel: "email", address: "anna@example.com", reason: "unsubscribe" };
const user: SuppressionEntry = { external_id: refs.external_id, categories: ["news"], note: "asked by phone" };

const mail = { address: { type: "string", ...definitions.email.address.schema } };

/** Whom an entry is about: an address on a channel that has such addresses, or a user. */
const kinds: Json[] = [
  ...contactChannels.map((channel) => ({
    ...having("address", "channel"),
    properties: { channel: { const: channel }, ...(channel === "email" && mail), external_id: false, entries: false },
  })),
  { ...having("external_id"), properties: { address: false, entries: false } },
];

/** What the OpenAPI document says of suppressions beside their operations. */
export const docs: Docs = {
  tags: { Suppressions: "Addresses and users that get no messages, or none of some categories." },
  examples: {
    CreateSuppression: [address, user, { entries: [address, user] }] satisfies CreateSuppression[],
    CreateSuppressionResult: [suppression, added],
    Suppression: [suppression],
    SuppressionEntry: [address, user],
    SuppressionLifted: [{ ok: true, restored: false }],
    SuppressionPage: [lastPage(suppression)],
    SuppressionsAdded: [added],
  },
  pathParameters: { suppressionId: pathPart("id of a suppression", suppression.id) },
  queryExamples: {
    channel: ["email"],
    reason: [suppressionReasons[0]],
    source: [suppressionSources[0]],
    address: "anna@example.com",
    external_id: refs.external_id,
    category: "news",
    force: true,
  },
  narrowed: {
    CreateSuppression: (schema) => ({ ...schema, oneOf: [...kinds, { ...having("entries"), maxProperties: 1 }] }),
  },
};
