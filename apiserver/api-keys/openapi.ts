import type { ApiKey } from "#core/schema/api-keys/api-key.ts";
import { exampleTime } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const id = "key_01JDKQ4WSM7Y2HDB9C4TNEQ0KF";
const key: ApiKey = {
  id,
  name: "backend",
  scopes: ["notifications:write"],
  app_ids: null,
  expires_at: null,
  allowed_addresses: ["203.0.113.0/24"],
  last_used_at: exampleTime,
  rotated_at: exampleTime,
  previous_token_expires_at: null,
  managed: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};
const token = `hk_${"x".repeat(43)}`;

/** What the OpenAPI document says of keys beside their operations. */
export const docs: Docs = {
  tags: { "API keys": "Keys of the REST interface: what they may do, from where, and their tokens." },
  examples: {
    ApiKey: [key],
    ApiKeyList: [{ data: [key] }],
    ApiKeyWithToken: [{ ...key, token }],
    CreateApiKey: [{ name: "backend", scopes: ["notifications:write"], allowed_addresses: ["0.0.0.0/0", "::/0"] }],
    UpdateApiKey: [{ name: "backend of the shop" }],
    RotateApiKey: [{ overlap_hours: 24 }, {}],
  },
  pathParameters: { keyId: pathPart("id of a key", id) },
};
