import type { Clock } from "#core/domain/clock.ts";
import { derivedId, type IdKind } from "#core/domain/ids.ts";
import type { ResourceDefinition } from "#core/schema/resources/definition.ts";
import type { Kept, Managed, ManagedRow, ManagedRows } from "#core/storage/managed.ts";
import { type Finding, ready, refused } from "../engine/conditions.ts";
import type { Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Secrets } from "../kube/secrets.ts";
import type { SecretValues } from "../policies/secret-reader.ts";

/** Tells the other programs that a document changed, so that they drop their copies. */
export type Announce = (collection: string, id: string) => void;

/** What every handler uses. */
export type Common = { announce: Announce; clock: Clock };

/** The service's id of what a resource stands for. It follows from the uid, so that a crash leaves nothing behind. */
export const idOf = (kind: IdKind, { metadata }: Resource): string => derivedId(kind, metadata.uid);

export const managedBy = (
  { kind }: ResourceDefinition,
  { metadata, spec }: Resource<{ deletionPolicy: "Delete" | "Retain" }>,
): Omit<Managed, "epoch"> => ({
  kind,
  namespace: metadata.namespace ?? null,
  name: metadata.name,
  uid: metadata.uid,
  policy: "Enforce",
  deletion: spec.deletionPolicy,
});

/** A verdict that leaves everything as it is. */
export const refusal = (finding: Finding): Verdict => ({ ready: finding, isChanged: false });

/** What a write came to; null when it is as wanted. */
export const keptFinding = (kept: Kept, what: string): Finding | null => {
  switch (kept) {
    case "created":
    case "updated":
    case "unchanged":
      return null;
    case "taken":
      return refused("NameTaken", `another ${what} has this name`);
  }
};

export const isWritten = (kept: Kept): boolean => kept === "created" || kept === "updated";

/** The verdict on a document that is as wanted. */
export const kept = (what: string, result: Kept, status: Record<string, unknown>): Verdict => ({
  ready: ready(`the ${what} is as the resource says`),
  status,
  isChanged: isWritten(result),
});

/** Takes the document away, or leaves it unmanaged, as the resource's deletionPolicy says. */
export const dropRow = async <Row extends ManagedRow>(
  { rows, collection, announce, clock }: Common & { rows: ManagedRows<Row>; collection: string },
  id: string,
  resource: Resource<{ deletionPolicy: string }>,
): Promise<void> => {
  const { uid } = resource.metadata;
  const isDropped =
    resource.spec.deletionPolicy === "Retain" ? await rows.release(id, uid, clock.now()) : await rows.remove(id, uid);
  if (isDropped) announce(collection, id);
};

/** The Secrets of these names beside a resource; null for one that is not there. */
export const secretValues = async (
  secrets: Pick<Secrets, "read">,
  { metadata }: Resource,
  names: readonly string[],
  signal: AbortSignal,
): Promise<SecretValues> => {
  const read = (name: string) => secrets.read(metadata.namespace ?? "", name, signal);
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
};

/** The first finding of a chain of policies, in order. */
export const firstFinding = <Input>(
  policies: readonly ((input: Input) => Finding | null)[],
  input: Input,
): Finding | null => {
  for (const policy of policies) {
    const finding = policy(input);
    if (finding !== null) return finding;
  }
  return null;
};
