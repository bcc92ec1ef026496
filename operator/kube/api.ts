import { type ResourceDefinition, resourceGroup, resourceVersion } from "#core/schema/resources/definition.ts";
import type { KubeClient } from "./client.ts";
import type { KubeObject, Resource } from "./objects.ts";

/** Collection of a kind over all namespaces. */
export const collectionPath = ({ plural }: ResourceDefinition): string =>
  `/apis/${resourceGroup}/${resourceVersion}/${plural}`;

/** Writes of a resource of ours. Each names the uid, so that none reaches another object of the same name. */
export const resourceApi = <R extends Resource>(client: KubeClient, definition: ResourceDefinition) => {
  const patch = (resource: R, suffix: string, body: object, signal: AbortSignal): Promise<R> =>
    client.call<R>({ method: "PATCH", path: `${objectPath(definition, resource)}${suffix}`, body }, signal);
  return {
    /** Fails with 409 when the object has changed since it was read. */
    setFinalizers: (resource: R, finalizers: readonly string[], signal: AbortSignal): Promise<R> => {
      const { uid, resourceVersion } = resource.metadata;
      return patch(resource, "", { metadata: { uid, resourceVersion, finalizers } }, signal);
    },
    patchStatus: (resource: R, status: object, signal: AbortSignal): Promise<R> =>
      patch(resource, "/status", { metadata: { uid: resource.metadata.uid }, status }, signal),
  };
};

export type ResourceApi<R extends Resource> = ReturnType<typeof resourceApi<R>>;

const objectPath = (definition: ResourceDefinition, { metadata }: KubeObject): string => {
  const namespace = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `/apis/${resourceGroup}/${resourceVersion}${namespace}/${definition.plural}/${metadata.name}`;
};
