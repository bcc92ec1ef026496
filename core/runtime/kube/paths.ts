import { type ResourceDefinition, resourceGroup, resourceVersion } from "../../schema/kubernetes/definition.ts";
import type { KubeObject } from "./objects.ts";

/** Collection of a kind, of a namespace or over all of them. */
export const collectionPath = ({ plural }: ResourceDefinition, { namespace }: { namespace?: string } = {}): string =>
  `/apis/${resourceGroup}/${resourceVersion}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;

/** At most 500 objects of a kind, from where the page before ended. */
export const pagePath = (definition: ResourceDefinition, next: string): string =>
  `${collectionPath(definition)}?limit=500${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;

/** An object of a kind. */
export const objectPath = (definition: ResourceDefinition, { metadata }: KubeObject): string =>
  `${collectionPath(definition, metadata)}/${metadata.name}`;
