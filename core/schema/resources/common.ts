import { type Static, type TStringOptions, Type } from "typebox";
import { Closed } from "../common.ts";
import type { Rule } from "./definition.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** Attaches CEL rules to a schema; they are enforced by the API server and say nothing to other readers of the schema. */
export const cel = (...rules: readonly Rule[]) => ({ "x-kubernetes-validations": rules });

/** A rule that lets a member be set once. */
export const immutable = (member: string): Rule => ({
  rule: "self == oldSelf",
  message: `${member} cannot be changed; delete the resource and make another`,
});

/** Name of a resource or Secret in the same namespace: a DNS-1123 subdomain. */
export const objectName = (description: string, options: TStringOptions = {}) =>
  Text({ minLength: 1, maxLength: 253, pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", description, ...options });

/** A Secret of the resource's own namespace. */
export const secretRef = (keys: string) =>
  Closed(
    { name: objectName("name of the Secret, in the resource's own namespace") },
    { description: `the Secret that holds ${keys}` },
  );

export const deletionPolicy = Enum(["Delete", "Retain"], {
  default: "Delete",
  description:
    "what becomes of the service's own record when the resource is deleted: Delete removes it, " +
    "Retain leaves it as it is, no longer managed",
});

export const Condition = Closed({
  type: Enum(["Ready", "Synced"], {
    description: "Ready: what the resource asks for is in effect; Synced: the last reconciliation went through",
  }),
  status: Enum(["True", "False", "Unknown"], {
    description: "Unknown means that the operator is still trying; False that somebody must change something",
  }),
  reason: Text({ minLength: 1, maxLength: 128, description: "one word in CamelCase for programs" }),
  message: Text({ maxLength: 1024, description: "a sentence for people" }),
  observedGeneration: Integer({ minimum: 0, description: "the metadata.generation that the condition is about" }),
  lastTransitionTime: Text({ format: "date-time", maxLength: 40, description: "when the status last changed" }),
});
export type Condition = Static<typeof Condition>;

/** Members that the status of every kind has. */
export const commonStatus = {
  conditions: Optional(
    List(Condition, {
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      description: "Ready and Synced",
    }),
  ),
  observedGeneration: Optional(Integer({ minimum: 0, description: "the metadata.generation last reconciled" })),
  id: Optional(Text({ maxLength: 128, description: "the service's own id, as the REST interface uses it" })),
};
