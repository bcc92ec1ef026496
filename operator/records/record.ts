import { isDeepStrictEqual } from "node:util";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { Kept, ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import type { Verdict } from "../engine/reconcile.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused, waiting } from "../policies/conditions.ts";
import {
  type Claimant,
  claimOf,
  idOf,
  isClaiming,
  isRetained,
  nameOf,
  notConfirmed,
  type Owner,
  olderThan,
  type Stand,
  standOf,
} from "../policies/management.ts";
import { type Common, refusal } from "./platform.ts";

export type RecordDeps<R extends Claimant, Row extends NamedRow> = Common & {
  definition: ResourceDefinition;
  rows: ManagedRows<Row>;
  /** Name of the collection. */
  collection: string;
  /** The record in words, e.g. `live activity type`. */
  what: string;
  /** The kind's resources, with the indexes `external` and, where a name is unique, `name`. */
  store: Pick<Store<R>, "by">;
  /** The record that has a unique name; null when it is another unique member that is taken. */
  called?: (set: Partial<Row>) => Promise<Row | null>;
};

/** `name` is looked at when it is unique. */
type NamedRow = ManagedRow & { name?: string; app_id?: string };

/** Where a resource stands: which records it may reach, and which other resources can be after the same. */
export type Place<R, Row> = { owner?: Owner; belongs?: (row: Row) => boolean; isPeer?: (other: R) => boolean };

export type Wanted<Row> = {
  set: Partial<Row>;
  begin: Partial<Row>;
  /** What the resource's name is in the index `name`, and where else others may claim it. */
  names?: readonly string[];
};

/** `write`: the only stand on which something is written. */
export type MayWrite<Row> = Extract<Stand<Row>, { kind: "write" }>;

export type Records<R extends Claimant, Row extends NamedRow> = ReturnType<typeof records<R, Row>>;

/** The records of one kind, as the policies of its resources let them be written. */
export const records = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => ({
  /** Finds the resource's record and says what may be done with it. */
  look: (resource: R, place: Place<R, Row> = {}): Promise<Stand<Row>> => look(deps, resource, place),
  /** The verdict when nothing may be written. An observed record is let go of, one made only once is marked so. */
  tell: (resource: R, stand: MayNotWrite<Row>, telling: Telling<Row>): Promise<Verdict> =>
    tell(deps, resource, stand, telling),
  /** Why a record must not be written as `set` says, although the stand would let it. */
  problem: (resource: R, stand: MayWrite<Row>, wanted: Omit<Wanted<Row>, "begin">): Verdict | null =>
    problem(deps, resource, stand, wanted),
  /** Writes the record as wanted, or says why not. */
  keep: (resource: R, stand: MayWrite<Row>, wanted: Wanted<Row>): Promise<Outcome> =>
    keep(deps, resource, stand, wanted),
  /**
   * Takes the record away, or leaves it to itself, as the resource says; one that is another's is not touched. `before`
   * may hold the removal up; `after` follows it, again after a crash. Neither is called for a record that stays.
   */
  drop: (resource: R, dropping: Dropping = {}): Promise<Finding | null> => drop(deps, resource, dropping),
  /** Takes the record away when what it is part of is gone. */
  dropWith: (resource: R, isOrphan: (row: Row) => Promise<boolean>): Promise<boolean> =>
    dropWith(deps, resource, isOrphan),
});

type MayNotWrite<Row> = Exclude<Stand<Row>, MayWrite<Row>>;

/** `describe` gives the status of a record, and what the resource would have it be; `letGo` cuts its Secret loose. */
type Telling<Row> = { describe: (row: Row) => Described<Row> | Promise<Described<Row>>; letGo?: () => Promise<void> };
type Described<Row> = { status: Record<string, unknown>; members: Partial<Row> };

type Outcome = { kept: Kept } | { verdict: Verdict };

type Dropping = { before?: (id: string) => Promise<Finding | null>; after?: (id: string) => Promise<void> };

const look = async <R extends Claimant, Row extends NamedRow>(
  { definition, what, rows, store }: RecordDeps<R, Row>,
  resource: R,
  { owner = "tenant", belongs, isPeer }: Place<R, Row>,
): Promise<Stand<Row>> => {
  const id = idOf(definition, resource);
  const row = await rows.find(id);
  const isReachable = row === null || belongs === undefined || belongs(row);
  const rivals = othersIn(store.by("external", id), resource).filter((other) => isPeer?.(other) ?? true);
  return standOf({ definition, what, resource, id, row, isReachable, owner, rivals });
};

const tell = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  stand: MayNotWrite<Row>,
  { describe, letGo = async () => {} }: Telling<Row>,
): Promise<Verdict> => {
  const isObserved = resource.spec.managementPolicy === "Observe";
  if (stand.kind === "refused") return { ...refusal(stand.finding), ...(isObserved && { status: {} }) };
  const { row, finding } = stand;
  if (isObserved && row.managed?.uid === resource.metadata.uid) await letGo();
  const isChanged = await (isObserved ? release(deps, resource, row) : mark(deps, resource, row));
  const { status, members } = await describe(row);
  const differing = isObserved ? differences(row, members) : [];
  const more = differing.length > 0 ? `; the resource says otherwise of ${differing.join(", ")}` : "";
  return { ready: { ...finding, message: finding.message + more }, status: { id: row._id, ...status }, isChanged };
};

const release = async <Row extends NamedRow>(
  { rows, collection, announce, clock }: Pick<RecordDeps<never, Row>, "rows" | "collection" | "announce" | "clock">,
  { metadata: { uid } }: Claimant,
  { _id, managed, app_id: appId }: Row,
): Promise<boolean> => {
  const isReleased = managed?.uid === uid && (await rows.release(_id, uid, clock.now()));
  if (isReleased) announce(collection, _id, appId);
  return isReleased;
};

/** The policy, and what becomes of the record with its resource, stand in the record too. */
const mark = async <R extends Claimant, Row extends NamedRow>(
  { rows, collection, definition, announce, clock }: RecordDeps<R, Row>,
  resource: R,
  row: Row,
): Promise<boolean> => {
  const managed = claimOf(definition, resource);
  const kept = await rows.keep({ id: row._id, found: row, managed, set: {}, begin: {} }, clock.now());
  if (isWritten(kept)) announce(collection, row._id, row.app_id);
  return isWritten(kept);
};

const problem = <R extends Claimant, Row extends NamedRow>(
  { definition, what, store }: RecordDeps<R, Row>,
  resource: R,
  { row, isConfirmed }: MayWrite<Row>,
  { set, names = [] }: Omit<Wanted<Row>, "begin">,
): Verdict | null => {
  if (row !== null && !isConfirmed) return refusal(notConfirmed({ id: row._id, what }, differences(row, set)));
  if (row?.name !== undefined && row.name === set.name) return null; // who has a name keeps it
  const others = othersIn(
    names.flatMap((name) => store.by("name", name)),
    resource,
  );
  const winner = olderThan(resource, others.filter(isNaming));
  return winner === null ? null : again(nameTaken(what, nameOf(claimOf(definition, winner))));
};

const keep = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  stand: MayWrite<Row>,
  wanted: Wanted<Row>,
): Promise<Outcome> => {
  const verdict = problem(deps, resource, stand, wanted);
  if (verdict !== null) return { verdict };
  const id = idOf(deps.definition, resource);
  const { set, begin } = wanted;
  const write = { id, found: stand.row, managed: claimOf(deps.definition, resource), set, begin };
  const kept = await deps.rows.keep(write, deps.clock.now());
  const apps = new Set([stand.row?.app_id ?? set.app_id, set.app_id]); // both, of one that was another app's
  if (isWritten(kept)) for (const appId of apps) deps.announce(deps.collection, id, appId);
  return kept === "taken" ? { verdict: again(await conflict(deps, resource, set)) } : { kept };
};

/** Who has what is unique, and is not to be had. */
const conflict = async <R extends Claimant, Row extends NamedRow>(
  { definition, what, called }: RecordDeps<R, Row>,
  resource: R,
  set: Partial<Row>,
): Promise<Finding> => {
  const holder = (await called?.(set)) ?? null;
  if (holder === null || holder._id === idOf(definition, resource)) {
    return waiting("Busy", "what it asks for is about to be let go of by another");
  }
  const holderName = holder.managed && nameOf(holder.managed);
  const isFormer = holderName === nameOf(claimOf(definition, resource)); // of this name, but it is gone
  if (holderName !== null && !isFormer) return nameTaken(what, holderName);
  const message = `the ${what} ${holder._id}, which is no resource's, has this name; spec.externalName takes it over`;
  return refused("NameTaken", message);
};

const drop = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  { before, after }: Dropping,
): Promise<Finding | null> => {
  const id = idOf(deps.definition, resource);
  const { uid } = resource.metadata;
  const row = await deps.rows.find(id);
  if (row !== null && row.managed?.uid !== uid) return null;
  if (isRetained(resource)) {
    if (row !== null) await release(deps, resource, row);
    return null;
  }
  const blocked = (await before?.(id)) ?? null;
  if (blocked !== null) return blocked;
  if (await deps.rows.remove(id, uid)) deps.announce(deps.collection, id, row?.app_id);
  await after?.(id);
  return null;
};

const dropWith = async <R extends Claimant, Row extends NamedRow>(
  { definition, rows, collection, announce }: RecordDeps<R, Row>,
  resource: R,
  isOrphan: (row: Row) => Promise<boolean>,
): Promise<boolean> => {
  const row = await rows.find(idOf(definition, resource));
  const { uid } = resource.metadata;
  if (row === null || row.managed?.uid !== uid || !(await isOrphan(row))) return false;
  if (!(await rows.remove(row._id, uid))) return false;
  announce(collection, row._id, row.app_id);
  return true;
};

const isWritten = (kept: Kept): boolean => kept === "created" || kept === "updated";

const othersIn = <R extends Claimant>(resources: readonly R[], { metadata }: R): R[] =>
  resources.filter((other) => other.metadata.uid !== metadata.uid);

/** What was made only once no longer claims the name that it was made with. */
const isNaming = (resource: Claimant): boolean =>
  isClaiming(resource) && !(resource.spec.managementPolicy === "CreateOnly" && resource.status?.id !== undefined);

const nameTaken = (what: string, by: string): Finding => refused("NameTaken", `the ${what} of the ${by} has this name`);

/** Looked at again soon: what has the name may let go of it without the operator hearing. */
const again = (ready: Finding): Verdict => ({ ...refusal(ready), requeueAfterMs: 5_000 });

/** The members of a record that are other than wanted. */
const differences = (row: ManagedRow, set: object): string[] => {
  const before = new Map<string, unknown>(Object.entries(row));
  const differing = Object.entries(set).filter(([member, value]) => !isDeepStrictEqual(before.get(member), value));
  return differing.map(([member]) => member).filter((member) => member !== "channels_revision");
};
