import type { TObject } from "typebox";
import type { IdKind } from "../vocabulary/id-prefixes.ts";

/** A CEL rule of a custom resource, checked by the API server. */
export type Rule = { rule: string; message: string; fieldPath?: string };

/** A column of `kubectl get`; the common ones (Ready, Reason, ID, Age) are added to every kind. */
export type Column = { name: string; type: "string" | "integer" | "boolean" | "date"; jsonPath: string; wide?: true };

/** All that a kind is, besides what the operator does with it: its CRD, its page in docs/resources and its types follow. */
export type ResourceDefinition<Spec extends TObject = TObject, Status extends TObject = TObject> = {
  kind: string;
  plural: string;
  /** Of the record's id; null: the record's id is the resource's name. */
  idKind: IdKind | null;
  shortNames: readonly string[];
  scope: "Cluster" | "Namespaced";
  description: string;
  spec: Spec;
  status: Status;
  /** Rules over the whole object, for what a rule of `spec` cannot see: its name. */
  rules?: readonly Rule[];
  columns: readonly Column[];
  /** Versions that are served beside the usual one, with the same schema (docs/decisions/0232). */
  alsoServed?: readonly string[];
};

export const resourceGroup = "herald.dev";
export const resourceVersion = "v1alpha1";
export const resourceApiVersion = `${resourceGroup}/${resourceVersion}`;

/** The versions of a kind that are served; the first one is stored. */
export const versionsOf = ({ alsoServed = [] }: Pick<ResourceDefinition, "alsoServed">): string[] => [
  resourceVersion,
  ...alsoServed,
];

/** Keeps the precise schema types of a definition. */
export const defineResource = <Spec extends TObject, Status extends TObject>(
  definition: ResourceDefinition<Spec, Status>,
): ResourceDefinition<Spec, Status> => definition;
