import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { worded } from "../json/patterns.ts";
import { scopes } from "../vocabulary/scopes.ts";

const { Array: List, Enum, Integer, Object: Group, Optional, String: Text } = Type;

export const mostKeys = 500;
export const mostNetworks = 50;

/** What a network may look like; a check behind it asks for one that there is. */
export const networkPattern = worded("^[0-9A-Fa-f:.]{2,45}/[0-9]{1,3}$", "must be a network such as 10.0.0.0/8");

const members = {
  name: Text({ minLength: 1, maxLength: 128, description: "for people" }),
  scopes: List(Enum([...scopes]), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    description: "what the key may do; admin includes the others",
  }),
  app_ids: Nullable(
    List(Text({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: "the apps that it may use; null: all of the organisation",
    }),
  ),
  expires_at: Nullable(Text({ format: "date-time", description: "when it stops working; null: never" })),
  allowed_addresses: Nullable(
    List(Text({ maxLength: 64, pattern: networkPattern }), {
      minItems: 1,
      maxItems: mostNetworks,
      uniqueItems: true,
      description: "networks that requests with it may come from; null: any",
    }),
  ),
};

/** Body of `POST /v1/api-keys`. */
export const CreateApiKey = Closed({
  name: members.name,
  scopes: members.scopes,
  app_ids: Optional(members.app_ids),
  expires_at: Optional(members.expires_at),
  allowed_addresses: Optional(members.allowed_addresses),
});
export type CreateApiKey = Static<typeof CreateApiKey>;

/** Body of `PATCH /v1/api-keys/{keyId}`. */
export const UpdateApiKey = Closed({
  name: Optional(members.name),
  scopes: Optional(members.scopes),
  app_ids: Optional(members.app_ids),
  expires_at: Optional(members.expires_at),
  allowed_addresses: Optional(members.allowed_addresses),
});
export type UpdateApiKey = Static<typeof UpdateApiKey>;

/** Body of `POST /v1/api-keys/{keyId}/rotate`. */
export const RotateApiKey = Closed({
  overlap_hours: Optional(
    Integer({ minimum: 0, maximum: 720, default: 24, description: "hours for which the token before works on" }),
  ),
});
export type RotateApiKey = Static<typeof RotateApiKey>;

const view = {
  id: Text(),
  ...members,
  last_used_at: Nullable(Text({ format: "date-time", description: "the hour in which it was last used" })),
  rotated_at: Nullable(Text({ format: "date-time", description: "when its token was made" })),
  previous_token_expires_at: Nullable(Text({ format: "date-time", description: "until when a token before works" })),
  managed: Nullable(Group({ kind: Text(), namespace: Nullable(Text()), name: Text() })),
  created_at: DateTime,
  updated_at: DateTime,
};

/** A key, without its token. Source: docs/reference/api-keys.md. */
export const ApiKey = Group(view);
export type ApiKey = Static<typeof ApiKey>;

/** The same with its token, which is shown once. */
export const ApiKeyWithToken = Group({ ...view, token: Text({ description: "shown this once" }) });
export type ApiKeyWithToken = Static<typeof ApiKeyWithToken>;

export const ApiKeyList = Group({ data: List(ApiKey) });
export type ApiKeyList = Static<typeof ApiKeyList>;

named({ ApiKey, ApiKeyList, ApiKeyWithToken, CreateApiKey, RotateApiKey, UpdateApiKey });
