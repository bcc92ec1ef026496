import { type ResourceDefinition, resourceGroup, resourceVersion } from "../../schema/kubernetes/definition.ts";
import type { KubeObject } from "./objects.ts";

/** Collection of a kind, of a namespace or over all of them. */
export const collectionPath = ({ plural }: ResourceDefinition, { namespace }: { namespace?: string } = {}): string =>
  `/apis/${resourceGroup}/${resourceVersion}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;

/** An object of a kind. */
export const objectPath = (definition: ResourceDefinition, { metadata }: KubeObject): string =>
  `${collectionPath(definition, metadata)}/${metadata.name}`;
