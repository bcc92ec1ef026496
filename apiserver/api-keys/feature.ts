import {
  ApiKey,
  ApiKeyList,
  ApiKeyWithToken,
  CreateApiKey,
  RotateApiKey,
  UpdateApiKey,
} from "#core/schema/api-keys/api-key.ts";
import { OkReply } from "#core/schema/json/error.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { ofOrganisation } from "../access/of-organisation.ts";
import { feature } from "../http/feature.ts";
import { existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type ApiKeyUse, apiKeyUse } from "./use-cases.ts";

const all = "/v1/api-keys";
const one = `${all}/{keyId}`;

const route = routeOf<ApiKeyUse>({ tag: "API keys", scopes: ["admin"] });

const keyOfPath = async (located: Located<ApiKeyUse>): Promise<ApiKeyRow> => {
  await ofOrganisation(located);
  const { use, caller, params } = located;
  return existing(await use.find(caller.tenant._id, params["keyId"] ?? ""), "api key");
};

const routes = [
  route({
    id: "listApiKeys",
    method: "GET",
    path: all,
    summary: "List the keys of the organisation, without their tokens",
    reply: ApiKeyList,
    locate: ofOrganisation,
    handle: async ({ use, caller }) => ({ body: await use.list(caller.tenant._id) }),
  }),

  route({
    id: "createApiKey",
    method: "POST",
    path: all,
    summary: "Make a key; the reply has its token, which is shown this once",
    status: [201],
    errors: ["HS_QUOTA_EXCEEDED"],
    body: CreateApiKey,
    reply: ApiKeyWithToken,
    locate: ofOrganisation,
    repeatable: {
      made: async ({ use, caller, ip, requestId, newId }) => {
        const made = await use.made({ caller, ip, requestId }, newId("apiKey"));
        return made === null ? null : { body: made };
      },
    },
    handle: async ({ use, caller, ip, requestId, body, newId }) => ({
      body: await use.create({ caller, ip, requestId }, newId("apiKey"), body),
    }),
  }),

  route({
    id: "getApiKey",
    method: "GET",
    path: one,
    summary: "Show a key, without its token",
    reply: ApiKey,
    locate: keyOfPath,
    handle: async ({ use, resource }) => ({ body: use.view(resource) }),
  }),

  route({
    id: "updateApiKey",
    method: "PATCH",
    path: one,
    summary: "Change a key",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: UpdateApiKey,
    reply: ApiKey,
    locate: keyOfPath,
    handle: async ({ use, caller, ip, requestId, body, resource }) => ({
      body: use.view(await use.update({ caller, ip, requestId }, resource, body)),
    }),
  }),

  route({
    id: "rotateApiKey",
    method: "POST",
    path: `${one}/rotate`,
    summary: "Give a key another token, which is shown this once; the one before works on for a while",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: RotateApiKey,
    reply: ApiKeyWithToken,
    locate: keyOfPath,
    repeatable: {},
    handle: async ({ use, caller, ip, requestId, body, resource }) => ({
      body: await use.rotate({ caller, ip, requestId }, resource, body),
    }),
  }),

  route({
    id: "deleteApiKey",
    method: "DELETE",
    path: one,
    summary: "Delete a key: its tokens end",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: OkReply,
    locate: keyOfPath,
    handle: ({ use, caller, ip, requestId, resource }) => done(use.remove({ caller, ip, requestId }, resource)),
  }),
];

/** Keys of the REST interface. */
export const apiKeys = feature({ make: apiKeyUse, routes, ...docs });
