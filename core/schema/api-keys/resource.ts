import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import {
  cel,
  commonStatus,
  displayName,
  externalId,
  immutable,
  instant,
  objectName,
  resourceSpec,
} from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { scopes } from "../vocabulary/scopes.ts";
import { mostNetworks, networkPattern } from "./api-key.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

const Rotation = Closed(
  {
    everyHours: Optional(
      Integer({ minimum: 1, maximum: 8_760, description: "hours after which a token is replaced; absent = never" }),
    ),
    overlapHours: Integer({
      minimum: 0,
      maximum: 720,
      default: 24,
      description: "hours for which the token before works on, whatever the rotation was for",
    }),
  },
  {
    description: "when the token is replaced by itself; the annotation herald.dev/rotate asks for it at any time",
    ...cel({
      rule: "!has(self.everyHours) || self.overlapHours <= self.everyHours",
      message: "overlapHours cannot be more than everyHours: no token would ever end before the next but one",
    }),
  },
);

export const ApiKeySpec = resourceSpec(externalId("apiKey"), {
  displayName: displayName(),
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
  expiresAt: Optional(instant("when the key stops working; absent = never")),
  allowedAddresses: Optional(
    List(Text({ minLength: 4, maxLength: 64, pattern: networkPattern, description: "a network, as 10.0.0.0/8" }), {
      minItems: 1,
      maxItems: mostNetworks,
      "x-kubernetes-list-type": "set",
      description: "networks that requests with the key may come from; absent = the REST interface says, at first any",
    }),
  ),
  rotation: Optional(Rotation),
  connectionSecretName: objectName(
    "the Secret that the operator writes: `token`, `base_url` and, when the key is for one app, `app_id`. " +
      "Deleting it replaces the token at once",
    cel(immutable("connectionSecretName")),
  ),
});
export type ApiKeySpec = Static<typeof ApiKeySpec>;

const ApiKeyStatus = Closed({
  ...commonStatus,
  tenantId: Optional(Text({ maxLength: 128, description: "id of the tenant that the token was made for" })),
  expiresAt: Optional(instant("when the key stops working")),
  lastRotatedAt: Optional(instant("when the token was made")),
  nextRotationAt: Optional(instant("when it is replaced by schedule; absent without one")),
  previousTokenValidUntil: Optional(instant("until when the token before the last rotation works")),
});

export const apiKeyResource = defineResource({
  kind: "ApiKey",
  plural: "apikeys",
  idKind: "apiKey",
  shortNames: ["hkey"],
  scope: "Namespaced",
  description:
    "A key of the REST interface, written into a Secret. A new value of the annotation herald.dev/rotate, or the " +
    "schedule of spec.rotation, makes a new token; the one before works for another 24 hours, or as rotation says.",
  spec: ApiKeySpec,
  status: ApiKeyStatus,
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.connectionSecretName" },
    { name: "Scopes", type: "string", jsonPath: ".spec.scopes", wide: true },
    { name: "Rotated", type: "date", jsonPath: ".status.lastRotatedAt" },
    { name: "Expires", type: "date", jsonPath: ".status.expiresAt", wide: true },
  ],
});
