import { refusal, type Verdict } from "../engine/handler.ts";
import type { Finding } from "../policies/conditions.ts";
import { asWanted, type Claimant, claimOf, idOf, type Stand, standOf } from "../policies/management.ts";
import { type Dropping, drop, dropWith, release, requireTenant } from "./drops.ts";
import {
  differences,
  isWritten,
  type MayWrite,
  type NamedRow,
  type Outcome,
  othersIn,
  type RecordDeps,
  type Wanted,
} from "./record-deps.ts";
import { keep, problem } from "./writes.ts";

export type Records<R extends Claimant, Row extends NamedRow> = ReturnType<typeof records<R, Row>>;

/** Which records a resource may reach, and which other resources may ask for the same; by itself all of them. */
export type Place<R, Row> = { isReachable?: (row: Row) => boolean; isPeer?: (other: R) => boolean };

/** The records of one kind, as the policies of its resources let them be written. */
export const records = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => ({
  /** The id of the record that a resource stands for. */
  idOf: (resource: R): string => idOf(deps.definition, resource),
  /** Finds the resource's record and says what may be done with it. */
  look: (resource: R, place: Place<R, Row> = {}): Promise<Stand<Row>> => look(deps, resource, place),
  /**
   * The verdict when nothing may be written. An observed record is released, and so is its Secret; one made only once
   * is marked so.
   */
  report: (resource: R, stand: MayNotWrite<Row>, describe: Describe<Row>, signal: AbortSignal): Promise<Verdict> =>
    report(deps, { resource, stand, describe }, signal),
  /** Why a record must not be written as `set` says, although the stand would let it. */
  problem: (resource: R, stand: MayWrite<Row>, wanted: Omit<Wanted<Row>, "begin">): Verdict | null =>
    problem(deps, resource, stand, wanted),
  /** Writes the record as wanted, or says why not. */
  keep: (resource: R, stand: MayWrite<Row>, wanted: Wanted<Row>): Promise<Outcome> =>
    keep(deps, resource, stand, wanted),
  /** The verdict on a record that is as wanted. */
  kept: (resource: R, { kept }: Extract<Outcome, { kept: unknown }>, status: Record<string, unknown>): Verdict => ({
    ready: asWanted(resource, deps.what),
    status: { id: idOf(deps.definition, resource), ...status },
    isChanged: kept !== "unchanged",
  }),
  /**
   * Removes a record that was just made when its tenant was removed, or lost the namespace, meanwhile. The removal of a
   * tenant looks for such records after the tenant is gone, so that one of the two sees the other.
   * @throws Error so that the pass is made again
   */
  requireTenant: (resource: R, tenantId: string): Promise<void> => requireTenant(deps, resource, tenantId),
  /**
   * Removes the record and its Secret, or leaves both, as the resource says; another's are not touched. `before` may
   * say why the record cannot be removed yet; `after` follows the removal, and may be called again after a crash.
   * Neither is called for a record that stays.
   */
  drop: (resource: R, dropping: Dropping, signal: AbortSignal): Promise<Finding | null> =>
    drop(deps, resource, dropping, signal),
  /** Removes the record when what it belongs to is gone. */
  dropWith: (resource: R, isOrphan: (row: Row) => Promise<boolean>): Promise<boolean> =>
    dropWith(deps, resource, isOrphan),
});

type MayNotWrite<Row> = Exclude<Stand<Row>, MayWrite<Row>>;

/** Gives the status of a record, and what the resource would have it be. */
type Describe<Row> = (row: Row) => Described<Row> | Promise<Described<Row>>;
type Described<Row> = { status: Record<string, unknown>; members: Partial<Row> };

const look = async <R extends Claimant, Row extends NamedRow>(
  { definition, what, owner, rows, store }: RecordDeps<R, Row>,
  resource: R,
  { isReachable = () => true, isPeer = () => true }: Place<R, Row>,
): Promise<Stand<Row>> => {
  const id = idOf(definition, resource);
  const row = await rows.find(id);
  const rivals = othersIn(store.by("external", id), resource).filter(isPeer);
  return standOf({ definition, what, resource, id, row, isReachable: row === null || isReachable(row), owner, rivals });
};

const report = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  { resource, stand, describe }: { resource: R; stand: MayNotWrite<Row>; describe: Describe<Row> },
  signal: AbortSignal,
): Promise<Verdict> => {
  const isObserved = resource.spec.managementPolicy === "Observe";
  if (stand.kind === "refused") return { ...refusal(stand.finding), ...(isObserved && { status: {} }) };
  const { row, finding } = stand;
  const isMine = row.managed?.uid === resource.metadata.uid;
  if (isObserved && isMine) await deps.ownSecret?.release(deps.secrets, resource, signal);
  const isChanged = await (isObserved ? release(deps, resource, row) : mark(deps, resource, row));
  const { status, members } = await describe(row);
  const differing = isObserved ? differences(row, members) : [];
  const more = differing.length > 0 ? `; the resource says otherwise of ${differing.join(", ")}` : "";
  return { ready: { ...finding, message: finding.message + more }, status: { id: row._id, ...status }, isChanged };
};

/** Writes the resource's policies into the record, where they count when the resource is gone. */
const mark = async <R extends Claimant, Row extends NamedRow>(
  { rows, collection, definition, announce, clock }: RecordDeps<R, Row>,
  resource: R,
  row: Row,
): Promise<boolean> => {
  const managed = claimOf(definition, resource);
  const kept = await rows.keep({ id: row._id, found: row, managed, set: {}, begin: {} }, clock.now());
  if (isWritten(kept)) announce(collection.name, row._id, row.app_id);
  return isWritten(kept);
};
