import { type Static, Type } from "typebox";
import { scopes } from "../../domain/scopes.ts";
import { Closed } from "../common.ts";
import { cel, commonStatus, deletionPolicy, immutable, objectName } from "./common.ts";
import { defineResource } from "./definition.ts";

const { Array: List, Enum, Optional, String: Text } = Type;

export const ApiKeySpec = Closed({
  displayName: Optional(
    Text({ minLength: 1, maxLength: 128, description: "name for people; absent = the resource's name" }),
  ),
  appRefs: Optional(
    List(objectName("name of an App of the same namespace"), {
      minItems: 1,
      maxItems: 50,
      "x-kubernetes-list-type": "set",
      description: "the Apps that the key may use; absent = every app of the tenant",
    }),
  ),
  scopes: List(Enum([...scopes]), {
    minItems: 1,
    maxItems: scopes.length,
    "x-kubernetes-list-type": "set",
    description: "what the key may do; admin includes the others",
  }),
  expiresAt: Optional(
    Text({ format: "date-time", maxLength: 40, description: "when the key stops working; absent = never" }),
  ),
  connectionSecretName: objectName(
    "the Secret that the operator writes: `token`, `base_url` and, when the key is for one app, `app_id`. " +
      "Deleting it replaces the token at once",
    cel(immutable("connectionSecretName")),
  ),
  deletionPolicy,
});
export type ApiKeySpec = Static<typeof ApiKeySpec>;

export const ApiKeyStatus = Closed({
  ...commonStatus,
  expiresAt: Optional(Text({ format: "date-time", maxLength: 40, description: "when the key stops working" })),
  previousTokenValidUntil: Optional(
    Text({ format: "date-time", maxLength: 40, description: "until when the token before the last rotation works" }),
  ),
});
export type ApiKeyStatus = Static<typeof ApiKeyStatus>;

export const apiKeyResource = defineResource({
  kind: "ApiKey",
  plural: "apikeys",
  shortNames: ["hkey"],
  scope: "Namespaced",
  description:
    "A key of the REST interface, written into a Secret. A new value of the annotation herald.dev/rotate makes a new " +
    "token; the one before works for another 24 hours.",
  spec: ApiKeySpec,
  status: ApiKeyStatus,
  rules: [],
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.connectionSecretName" },
    { name: "Scopes", type: "string", jsonPath: ".spec.scopes", wide: true },
    { name: "Expires", type: "date", jsonPath: ".status.expiresAt", wide: true },
  ],
});
