import { type ResourceDefinition, resourceGroup, resourceVersion } from "#core/schema/kubernetes/definition.ts";
import type { KubeClient } from "./client.ts";
import { type KubeObject, type Resource, trimmed } from "./objects.ts";

/**
 * Calls about a resource of ours. Each write names the uid, so that none reaches another object of the same name, and
 * the version that it was made from: it fails with 409 when the object has changed since, whoever changed it.
 */
export const resourceApi = <R extends Resource>(client: KubeClient, definition: ResourceDefinition) => {
  const patch = async (resource: R, suffix: string, change: Change, signal: AbortSignal): Promise<R> => {
    const { uid, resourceVersion } = resource.metadata;
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    const path = `${objectPath(definition, resource)}${suffix}`;
    return trimmed(await client.call<R>({ method: "PATCH", path, body }, signal));
  };
  return {
    /** Whether there is still this object, and not only another of its name. */
    isThere: async ({ metadata }: R, signal: AbortSignal): Promise<boolean> => {
      const path = `${collectionPath(definition, metadata)}?fieldSelector=metadata.name%3D${metadata.name}`;
      const { items } = await client.call<{ items: R[] }>({ method: "GET", path }, signal);
      return items.some((one) => one.metadata.uid === metadata.uid);
    },
    setFinalizers: (resource: R, finalizers: readonly string[], signal: AbortSignal): Promise<R> =>
      patch(resource, "", { metadata: { finalizers } }, signal),
    patchStatus: (resource: R, status: object, signal: AbortSignal): Promise<R> =>
      patch(resource, "/status", { status }, signal),
  };
};

type Change = { metadata?: object; status?: object };

export type ResourceApi<R extends Resource> = ReturnType<typeof resourceApi<R>>;

/** Collection of a kind, of a namespace or over all of them. */
export const collectionPath = ({ plural }: ResourceDefinition, { namespace }: { namespace?: string } = {}): string =>
  `/apis/${resourceGroup}/${resourceVersion}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;

const objectPath = (definition: ResourceDefinition, { metadata }: KubeObject): string =>
  `${collectionPath(definition, metadata)}/${metadata.name}`;
