import { derivedId } from "#core/domain/ids.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import type { Managed, ManagedRow } from "#core/storage/settings/managed.ts";
import { type Finding, ready, refused } from "./conditions.ts";

/** A resource of ours: its spec has the members of every kind. */
export type Claimant = Resource<Management, { id?: string }>;
type Management = {
  managementPolicy: "Enforce" | "CreateOnly" | "Observe";
  deletionPolicy: "Delete" | "Retain";
  externalName?: string;
};

/** The annotation by which a person consents to taking over an existing record: the record's id. */
export const adoptAnnotation = "herald.dev/adopt";

/**
 * Id of the record that a resource stands for. A new record's follows from the uid: after a crash the next pass finds
 * it.
 */
export const idOf = ({ idKind }: Pick<ResourceDefinition, "idKind">, { metadata, spec }: Claimant): string =>
  spec.externalName ?? (idKind === null ? metadata.name : derivedId(idKind, metadata.uid));

/** The mark on a record that says which resource stands for it. */
export const claimOf = ({ kind }: ResourceDefinition, { metadata, spec }: Claimant): Omit<Managed, "epoch"> => ({
  kind,
  namespace: metadata.namespace ?? null,
  name: metadata.name,
  uid: metadata.uid,
  policy: spec.managementPolicy === "CreateOnly" ? "CreateOnly" : "Enforce",
  deletion: spec.deletionPolicy,
});

/** Whether the record stays when its resource goes. */
export const isRetained = ({ spec }: Claimant): boolean =>
  spec.deletionPolicy === "Retain" || spec.managementPolicy === "Observe";

/** A resource, the record that it names, and who else names it. */
export type Situation<Row extends ManagedRow> = {
  definition: ResourceDefinition;
  /** The record in words, e.g. `live activity type`. */
  what: string;
  resource: Claimant;
  id: string;
  row: Row | null;
  /** Whether the record is of the tenant, or app, that the resource is of. */
  isReachable: boolean;
  /** What the record is part of. */
  owner: CollectionSpec["owner"]["kind"];
  /** Other resources of the same tenant that name the record. */
  rivals: readonly Claimant[];
};

/** `left`: nothing may be written, only reported. `isConfirmed`: nobody needs to consent, or somebody did. */
export type Stand<Row> =
  | { kind: "refused"; finding: Finding }
  | { kind: "left"; row: Row; finding: Finding }
  | { kind: "write"; row: Row | null; isConfirmed: boolean };

/** Whether a resource may write the record that it names. Only this function decides what the policies mean. */
export const standOf = <Row extends ManagedRow>(at: Situation<Row>): Stand<Row> => {
  const { resource, row, id } = at;
  const policy = resource.spec.managementPolicy;
  const finding = notFound(at) ?? (policy === "Observe" ? null : managedByAnother(at));
  if (finding !== null) return { kind: "refused", finding };
  if (row !== null && policy === "Observe") return { kind: "left", row, finding: observed(at) };
  if (row !== null && policy === "CreateOnly" && isMine(row, at) && hasMade(resource, id)) {
    return { kind: "left", row, finding: createOnly(at) };
  }
  return { kind: "write", row, isConfirmed: row === null || isMine(row, at) || mayTake(at, resource) };
};

/** The finding about a record that is as wanted. */
export const asWanted = ({ spec }: Claimant, what: string): Finding =>
  spec.managementPolicy === "CreateOnly" ? createOnly({ what }) : ready(`the ${what} is as the resource says`);

/** Asks for consent, and names the members that would change. */
export const notConfirmed = ({ id, what }: { id: string; what: string }, differing: readonly string[]): Finding =>
  refused(
    "AdoptionNotConfirmed",
    `the ${what} ${id} exists; taking it over would change ${differing.join(", ") || "nothing"}. ` +
      `The annotation ${adoptAnnotation}: ${id} confirms it`,
  );

/** The oldest of the resources that are older than this one: of several claims the oldest counts. */
export const olderThan = (self: Claimant, others: readonly Claimant[]): Claimant | null => {
  const [oldest = self] = [self, ...others].sort(byAge);
  return oldest === self ? null : oldest;
};

/** `Kind namespace/name` */
export const nameOf = ({ kind, namespace, name }: Pick<Managed, "kind" | "namespace" | "name">): string =>
  `${kind} ${namespace === null ? name : `${namespace}/${name}`}`;

/** Whether a resource asks for something that others of its kind may ask for too. */
export const isClaiming = ({ metadata, spec }: Claimant): boolean =>
  metadata.deletionTimestamp === undefined && spec.managementPolicy !== "Observe";

/** Whether the record was made, or taken over, for this resource before. */
export const hasMade = ({ status }: Claimant, id: string): boolean => status?.id === id;

type Any = Situation<ManagedRow>;

const notFound = (at: Any): Finding | null => {
  const { resource, row, id, what, isReachable } = at;
  const { externalName, managementPolicy: policy } = resource.spec;
  if (row !== null) {
    if (isReachable) return null;
    return externalName === undefined ? ownerChanged(at) : refused("ExternalNotFound", `there is no ${what} ${id}`);
  }
  if (policy === "CreateOnly" && hasMade(resource, id)) {
    return refused("ExternalNotFound", `the ${what} ${id} was made, and somebody removed it; it is made only once`);
  }
  const isMissing = externalName !== undefined && !(policy === "Enforce" && hasMade(resource, id));
  return isMissing ? refused("ExternalNotFound", `there is no ${what} ${id}`) : null;
};

/** The tenant, or app, is no longer the one that the record was made for: the record stays there with its history. */
const ownerChanged = ({ owner, what }: Any): Finding =>
  owner === "app"
    ? refused(
        "AppChanged",
        `the App of this name is now another; the ${what} stays with the app it was made for. ` +
          `Delete this resource, with Retain to keep that ${what}, and make it anew`,
      )
    : refused(
        "TenantChanged",
        `the namespace now belongs to another tenant; the ${what} stays with the one it was made for`,
      );

/** Who has a record keeps it; of several who may take it, the oldest does. */
const managedByAnother = (at: Any): Finding | null => {
  const { definition, resource, row, what, id, rivals } = at;
  const holder = row?.managed ?? null;
  if (row !== null && isMine(row, at)) return null;
  if (holder !== null) return refused("ManagedByAnother", `the ${nameOf(holder)} stands for the ${what} ${id}`);
  if (!mayTake(at, resource)) return null;
  const winner = olderThan(
    resource,
    rivals.filter((rival) => isClaiming(rival) && mayTake(at, rival)),
  );
  if (winner === null) return null;
  const name = nameOf(claimOf(definition, winner));
  return refused("ManagedByAnother", `the ${name}, which is older, stands for the ${what} ${id}`);
};

/**
 * Whether the mark names this resource. With another uid it was a former object of its name, whose record it inherits.
 */
export const isMine = (
  { managed }: ManagedRow,
  { definition, resource: { metadata } }: Pick<Any, "definition" | "resource">,
): boolean =>
  managed !== null &&
  managed.kind === definition.kind &&
  managed.namespace === (metadata.namespace ?? null) &&
  managed.name === metadata.name;

/** Whether a resource may make the record, or take over one that is nobody's: its own, or one that a person named. */
const mayTake = ({ definition, row, id }: Any, resource: Claimant): boolean => {
  const isNamed = resource.spec.externalName !== undefined;
  if (row === null) return !isNamed || hasMade(resource, id);
  const isDerived = !isNamed && definition.idKind !== null;
  return isDerived || hasConsent(resource, id);
};

/** Whether a person has confirmed that the resource takes over a record, or members of one. */
export const hasConsent = ({ metadata }: Claimant, id: string): boolean =>
  metadata.annotations?.[adoptAnnotation] === id;

const observed = ({ what }: Any): Finding => ({
  status: "True",
  reason: "Observed",
  message: `the ${what} exists and is left as it is`,
});

const createOnly = ({ what }: Pick<Any, "what">): Finding => ({
  status: "True",
  reason: "CreateOnly",
  message: `the ${what} was made from the resource and is the REST interface's to change`,
});

/** A creationTimestamp has whole seconds: of two in the same second the uid decides. */
const byAge = ({ metadata: a }: Claimant, { metadata: b }: Claimant): number =>
  compare(a.creationTimestamp ?? "", b.creationTimestamp ?? "") || compare(a.uid, b.uid);

/** Orders texts as their code units are. */
export const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
