import { isDeepStrictEqual } from "node:util";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isNotFound, isUnanswered } from "#core/runtime/kube/errors.ts";
import type { KubeObject, Resource, Secret } from "#core/runtime/kube/objects.ts";
import type { Note, Report } from "./events.ts";

/** Only metadata is watched: values are read when they are needed, and kept nowhere. */
export const metadataOnly = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  // with the list's form the API server would send no event, and no error
  watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
};

/** What is kept of a watched Secret or ConfigMap. */
export const trimMetadata = ({ metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) } };
};

/** On a Secret of ours: the value of the annotation herald.dev/rotate that it was made for. */
const rotatedForAnnotation = "herald.dev/rotated-for";

/**
 * A Secret that a resource writes. `absent`: it is not there yet; `foreign`: it is somebody else's and never touched;
 * `left`: it was another resource's, which was deleted and left it.
 */
export type OwnSecret = { kind: "absent" | "foreign" } | (Content & { kind: "own"; isOwned: boolean });
export type FoundSecret = { kind: "absent" | "foreign" } | (Content & { kind: "own" | "left" });
type Content = { secret: Secret; values: Record<string, string>; rotatedFor: string | null };

export type Secrets = ReturnType<typeof secrets>;

export type Owner = { apiVersion: string; kind: string; resource: Resource };
export type OwnContent = {
  before: OwnSecret;
  values: Record<string, string>;
  rotatedFor: string | null;
  /** The key of the value that replaces one in use, e.g. `token`; null: none does. */
  replaced: string | null;
};

/** `report` is called when a Secret of ours has got another credential. */
export const secrets = (client: KubeClient, report: Report) => {
  const find = (namespace: string, name: string, signal: AbortSignal): Promise<Secret | null> =>
    client.call<Secret>({ method: "GET", path: pathOf(namespace, name) }, signal).catch(nullWhenNotFound);
  const findOwn = async ({ resource }: Owner, name: string, signal: AbortSignal): Promise<Secret | null> => {
    const secret = await find(namespaceOf(resource), name, signal);
    return secret !== null && isOwnedBy(secret, resource) ? secret : null;
  };
  return {
    /** Values as text, or null when there is no such Secret. */
    read: async (namespace: string, name: string, signal: AbortSignal): Promise<Record<string, string> | null> => {
      const secret = await find(namespace, name, signal);
      return secret === null ? null : valuesOf(secret);
    },
    readOwn: async ({ resource }: Owner, name: string, signal: AbortSignal): Promise<FoundSecret> => {
      const secret = await find(namespaceOf(resource), name, signal);
      if (secret === null) return { kind: "absent" };
      const kind = isOwnedBy(secret, resource) ? "own" : isLeft(secret) ? "left" : "foreign";
      if (kind === "foreign") return { kind };
      const rotatedFor = secret.metadata.annotations?.[rotatedForAnnotation] ?? null;
      return { kind, secret, values: valuesOf(secret), rotatedFor };
    },
    /**
     * Creates or replaces the owner's Secret; fails with 409 when it changed since `before` was read. When the answer is
     * lost it looks whether the Secret was written: the next pass could no longer say that a credential was replaced.
     */
    writeOwn: async (owner: Owner, name: string, content: OwnContent, signal: AbortSignal): Promise<void> => {
      const namespace = namespaceOf(owner.resource);
      const isNew = content.before.kind !== "own";
      const path = isNew ? `/api/v1/namespaces/${namespace}/secrets` : pathOf(namespace, name);
      const request = { method: isNew ? "POST" : "PUT", path, body: bodyOf(owner, name, content) } as const;
      await client.call(request, signal).catch(async (error: unknown) => {
        if (!isUnanswered(error)) throw error;
        const there = await findOwn(owner, name, signal);
        if (there === null || !isDeepStrictEqual(valuesOf(there), content.values)) throw error;
      });
      if (content.replaced !== null) report(owner.kind, owner.resource, rotated(name, content.replaced, isNew));
    },
    /** Removes the owner's Secret, if there is one. */
    removeOwn: async (owner: Owner, name: string, signal: AbortSignal): Promise<void> => {
      const secret = await findOwn(owner, name, signal);
      if (secret === null) return;
      const { uid, resourceVersion, namespace = "" } = secret.metadata;
      const body = { preconditions: { uid, resourceVersion } };
      await client.call({ method: "DELETE", path: pathOf(namespace, name), body }, signal).catch(nullWhenNotFound);
    },
    /** Takes the owner off the Secret, so that it stays when the owner is deleted. */
    releaseOwn: async (owner: Owner, name: string, signal: AbortSignal): Promise<void> => {
      const secret = await findOwn(owner, name, signal);
      if (secret === null) return;
      const { uid, resourceVersion, namespace = "", ownerReferences = [] } = secret.metadata;
      const others = ownerReferences.filter((reference) => reference.uid !== owner.resource.metadata.uid);
      const body = { metadata: { uid, resourceVersion, ownerReferences: others } };
      await client.call({ method: "PATCH", path: pathOf(namespace, name), body }, signal);
    },
  };
};

/** The Secrets of these names beside a resource; null for one that is not there. */
export const secretValues = async (
  secrets: Pick<Secrets, "read">,
  { metadata }: Resource,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Record<string, string> | null>> => {
  const read = (name: string) => secrets.read(metadata.namespace ?? "", name, signal);
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
};

const rotated = (name: string, credential: string, wasGone: boolean): Note => ({
  type: "Normal",
  reason: "Rotated",
  message: `Secret ${name} ${wasGone ? "was gone; a new one " : ""}holds a new ${credential}`,
});

const pathOf = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;

const namespaceOf = ({ metadata }: Resource): string => {
  if (metadata.namespace === undefined) throw new TypeError(`${metadata.name} has no namespace to hold Secrets`);
  return metadata.namespace;
};

const isOwnedBy = (secret: Secret, { metadata }: Resource): boolean =>
  secret.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;

const isLeft = ({ metadata: { labels, ownerReferences = [] } }: Secret): boolean =>
  ownerReferences.length === 0 && labels?.[managedByLabel] === managedByUs;

const managedByLabel = "app.kubernetes.io/managed-by";
const managedByUs = "herald-operator";

const valuesOf = ({ data = {} }: Secret): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));

/** Labels and annotations that others put on the Secret stay. */
const bodyOf = ({ apiVersion, kind, resource }: Owner, name: string, content: OwnContent): object => {
  const { before, values, rotatedFor } = content;
  const { namespace } = resource.metadata;
  const old = before.kind === "own" ? before.secret.metadata : undefined;
  const { [rotatedForAnnotation]: _, ...annotations } = old?.annotations ?? {};
  const owner = { apiVersion, kind, name: resource.metadata.name, uid: resource.metadata.uid, controller: true };
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name,
      namespace,
      ...(old === undefined ? {} : { uid: old.uid, resourceVersion: old.resourceVersion }),
      labels: { ...old?.labels, [managedByLabel]: managedByUs },
      annotations: { ...annotations, ...(rotatedFor === null ? {} : { [rotatedForAnnotation]: rotatedFor }) },
      ownerReferences: [owner],
    },
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  };
};

const nullWhenNotFound = (error: unknown): null => {
  if (isNotFound(error)) return null;
  throw error;
};
