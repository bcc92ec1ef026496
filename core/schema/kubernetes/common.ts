import { type Static, type TProperties, type TString, type TStringOptions, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { idPattern, worded } from "../json/patterns.ts";
import { type IdKind, idPrefixes } from "../vocabulary/id-prefixes.ts";
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
  Text({
    minLength: 1,
    maxLength: 253,
    pattern: worded(
      "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
      "must be small letters, digits, - and ., with a letter or digit at both ends",
    ),
    description,
    ...options,
  });

/** One part of a DNS name, as namespaces have it. */
export const dnsLabel = (description: string) =>
  Text({
    minLength: 1,
    maxLength: 63,
    pattern: worded(
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      "must be small letters, digits and -, with a letter or digit at both ends",
    ),
    description,
  });

/** `unique` says among what. */
export const displayName = (unique = "") =>
  Optional(
    Text({ minLength: 1, maxLength: 128, description: `name for people${unique}; absent = the resource's name` }),
  );

export const instant = (description: string) => Text({ format: "date-time", maxLength: 40, description });

/** A Secret of the resource's own namespace. */
export const secretRef = (keys: string) =>
  Closed(
    { name: objectName("name of the Secret, in the resource's own namespace") },
    { description: `the Secret that holds ${keys}` },
  );

/**
 * The spec of a kind: its own members and those that every kind has. A rule that sees the former object is checked by
 * the API server on changes only.
 */
export const resourceSpec = <Members extends TProperties>(
  externalName: TString,
  members: Members,
  ...rules: readonly Rule[]
) =>
  Closed(
    { ...members, managementPolicy, deletionPolicy, externalName: Optional(externalName) },
    cel(...rules, ...policyRules),
  );

/** The service's id of an existing record of this kind, which is a tenant's or, if `isOfAll`, the whole installation's. */
export const externalId = (kind: IdKind, { isOfAll = false }: { isOfAll?: boolean } = {}) =>
  Text({
    minLength: 30,
    maxLength: 30,
    pattern: worded(idPattern(kind), `must be an id of this service that begins with ${idPrefixes[kind]}_`),
    description: `the service's id (${idPrefixes[kind]}_…) of an existing record ${externalUse(isOfAll)}`,
  });

/** What externalName is for, to be said after what it names. */
export const externalUse = (isOfAll: boolean, absent = "a record of its own"): string =>
  `that the resource is to stand for; absent = ${absent}. It has to be ${isOfAll ? "" : "the same tenant's and "}no other ` +
  "resource's, and to take it over needs the annotation herald.dev/adopt with the same value: without it Ready says what " +
  "would change";

const managementPolicy = Enum(["Enforce", "CreateOnly", "Observe"], {
  default: "Enforce",
  description:
    "Enforce: the record is as the resource says, whoever changes it, and the REST interface refuses to; " +
    "CreateOnly: made once from the resource, then the REST interface's to change; " +
    "Observe: an existing record is looked at and nothing is written, no Secret either",
});

const deletionPolicy = Enum(["Delete", "Retain"], {
  default: "Delete",
  description:
    "what becomes of the record when the resource is deleted: Delete removes it, Retain leaves it and its Secret as " +
    "they are, for the REST interface to change. Of an observed one nothing is touched",
});

const policyRules: readonly Rule[] = [
  {
    rule: "self.managementPolicy != 'Observe' || has(self.externalName)",
    message: "Observe needs externalName: the record to look at",
    fieldPath: ".externalName",
  },
  {
    rule: "!has(oldSelf.externalName) || (has(self.externalName) && self.externalName == oldSelf.externalName)",
    message: "externalName cannot be changed; delete the resource and make another",
    fieldPath: ".externalName",
  },
];

/** A rule of every kind over the whole object: who has made a record cannot leave it for another. */
export const externalNameRule: Rule = {
  rule:
    "!has(self.spec.externalName) || has(oldSelf.spec.externalName) || !has(self.status) || !has(self.status.id) || " +
    "self.status.id == self.spec.externalName",
  message: "externalName can only become status.id: the resource stands for that record already",
  fieldPath: ".spec.externalName",
};

/** The conditions of every kind, each with what it says. */
const usualConditions = {
  Ready: "what the resource asks for is in effect",
  Synced: "the last reconciliation went through",
};

const condition = (types: Record<string, string>) =>
  Closed(
    {
      type: Enum(Object.keys(types), {
        description: Object.entries(types)
          .map((one) => one.join(": "))
          .join("; "),
      }),
      status: Enum(["True", "False", "Unknown"], {
        description: "Unknown means that the operator is still trying; False that somebody must change something",
      }),
      reason: Text({ minLength: 1, maxLength: 128, description: "one word in CamelCase for programs" }),
      message: Text({ maxLength: 1024, description: "a sentence for people" }),
      observedGeneration: Integer({ minimum: 0, description: "the metadata.generation that the condition is about" }),
      lastTransitionTime: instant("when the status last changed"),
    },
    { description: "what is so, and since when" },
  );
export type Condition = Static<ReturnType<typeof condition>>;

/** The conditions of every kind, and those of one kind, each with what it says. */
export const conditions = (own: Record<string, string> = {}) => {
  const types = { ...usualConditions, ...own };
  return Optional(
    List(condition(types), {
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      description: Object.keys(types).join(" and "),
    }),
  );
};

/** So much of a request for a reconciliation is repeated in the status. */
export const reconcileRequestCharacters = 128;

/** Members that the status of every kind has. */
export const commonStatus = {
  conditions: conditions(),
  observedGeneration: Optional(Integer({ minimum: 0, description: "the metadata.generation last reconciled" })),
  lastHandledReconcileAt: Optional(
    Text({
      maxLength: reconcileRequestCharacters,
      description: "the value of the annotation herald.dev/reconcile that was last followed",
    }),
  ),
  id: Optional(Text({ maxLength: 128, description: "the service's own id, as the REST interface uses it" })),
};
