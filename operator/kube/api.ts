import type { KubeClient } from "#core/runtime/kube/client.ts";
import { type Resource, trimmed } from "#core/runtime/kube/objects.ts";
import { collectionPath, objectPath } from "#core/runtime/kube/paths.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";

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
    isThere: async ({ metadata }: R, signal: AbortSignal): Promise<boolean> =>
      (await called<R>(client, definition, metadata, signal)).some((one) => one.metadata.uid === metadata.uid),
    setFinalizers: (resource: R, finalizers: readonly string[], signal: AbortSignal): Promise<R> =>
      patch(resource, "", { metadata: { finalizers } }, signal),
    patchStatus: (resource: R, status: object, signal: AbortSignal): Promise<R> =>
      patch(resource, "/status", { status }, signal),
  };
};

type Change = { metadata?: object; status?: object };

export type ResourceApi<R extends Resource> = ReturnType<typeof resourceApi<R>>;

type Name = { namespace?: string; name: string };

/** The resource of a name, if there is one, whatever its labels are; by a list, as the operator may `get` none. */
const called = async <R>(
  client: Pick<KubeClient, "call">,
  definition: ResourceDefinition,
  at: Name,
  signal: AbortSignal,
): Promise<R[]> => {
  const path = `${collectionPath(definition, at)}?fieldSelector=metadata.name%3D${at.name}`;
  return (await client.call<{ items: R[] }>({ method: "GET", path }, signal)).items;
};

export type Presence = ReturnType<typeof presence>;

/** Asks the API server whether there is a resource of a name; `unseen`: it is where the operator may not look. */
export const presence =
  (client: Pick<KubeClient, "call">, isWatched: (namespace: string) => boolean) =>
  async (definition: ResourceDefinition, at: Name, signal: AbortSignal): Promise<"there" | "gone" | "unseen"> => {
    if (at.namespace !== undefined && !isWatched(at.namespace)) return "unseen";
    return (await called(client, definition, at, signal)).length > 0 ? "there" : "gone";
  };
