import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isNotFound } from "#core/runtime/kube/errors.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { objectPath, pagePath } from "#core/runtime/kube/paths.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type ResourceDefinition, resourceGroup, versionsOf } from "#core/schema/kubernetes/definition.ts";
import { pause } from "../kube/watch.ts";

export type TendVersionsDeps = {
  client: KubeClient;
  kinds: readonly ResourceDefinition[];
  everyMs: number;
  log: Log;
};

/** Has what is stored be of the version that is stored now, until `stop` aborts. Never rejects. */
export type TendVersions = (stop: AbortSignal) => Promise<void>;

type Definition = KubeObject & {
  spec: { versions: { name: string; storage: boolean }[] };
  status?: { storedVersions?: string[] };
};

/**
 * Rewrites every object of a kind whose stored version has changed, and says so in its definition: then a version can go.
 * It begins at the second look that finds the same definition: by then each API server stores by it.
 */
export const tendVersions = (deps: TendVersionsDeps): TendVersions => {
  const several = deps.kinds.filter((kind) => versionsOf(kind).length > 1);
  return async (stop) => {
    const seen = new Map<string, number | undefined>();
    while (!stop.aborted) {
      for (const kind of several) {
        await tendOne(deps, kind, seen, stop).catch((err: unknown) => {
          if (!stop.aborted) deps.log.warn({ err, kind: kind.kind }, "versions.not_migrated");
        });
      }
      await pause(deps.everyMs, stop);
    }
  };
};

const tendOne = async (
  { client, log }: TendVersionsDeps,
  kind: ResourceDefinition,
  seen: Map<string, number | undefined>,
  signal: AbortSignal,
): Promise<void> => {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${resourceGroup}`;
  const { metadata, spec, status } = await client.call<Definition>({ method: "GET", path }, signal);
  const stored = spec.versions.find(({ storage }) => storage)?.name;
  const isSettled = seen.get(kind.kind) === metadata.generation;
  seen.set(kind.kind, metadata.generation);
  if (stored === undefined || status?.storedVersions?.every((version) => version === stored) || !isSettled) return;
  const objects = await rewriteAll(client, kind, signal);
  const { resourceVersion } = metadata; // 409 when the definition has changed meanwhile: then it begins anew
  const body = { metadata: { resourceVersion }, status: { storedVersions: [stored] } };
  await client.call({ method: "PATCH", path: `${path}/status`, body }, signal);
  log.info({ kind: kind.kind, version: stored, objects }, "versions.migrated");
};

/** A patch of nothing: the API server stores an object anew when what it would store differs, as its version does. */
const rewriteAll = async (client: KubeClient, kind: ResourceDefinition, signal: AbortSignal): Promise<number> => {
  let [objects, next] = [0, ""];
  do {
    type Page = { metadata: { continue?: string }; items: KubeObject[] };
    const { metadata, items } = await client.call<Page>({ method: "GET", path: pagePath(kind, next) }, signal);
    for (const one of items) {
      await client.call({ method: "PATCH", path: objectPath(kind, one), body: {} }, signal).catch(unlessGone);
    }
    [objects, next] = [objects + items.length, metadata.continue ?? ""];
  } while (next !== "");
  return objects;
};

const unlessGone = (error: unknown): void => {
  if (!isNotFound(error)) throw error;
};
