import { refusal, type Verdict } from "../engine/handler.ts";
import { type Claimant, claimOf, idOf, type Stand, standOf } from "../policies/management.ts";
import { release } from "./drops.ts";
import type { MayWrite, NamedRow, Place, RecordDeps } from "./record-deps.ts";
import { differences, isWritten, othersIn } from "./writes.ts";

/** Gives the status and the own conditions of a record, and what the resource would have it be. */
type Describe<Row> = (row: Row) => Described<Row> | Promise<Described<Row>>;
type Described<Row> = Pick<Verdict, "conditions"> & { status: Record<string, unknown>; members: Partial<Row> };

type MayNotWrite<Row> = Exclude<Stand<Row>, MayWrite<Row>>;

export const looking = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => {
  const { definition, what, collection, rows, store } = deps;

  /** Writes the resource's policies into the record, where they count when the resource is gone. */
  const mark = async (resource: R, row: Row): Promise<boolean> => {
    const managed = claimOf(definition, resource);
    const kept = await rows.keep({ id: row._id, found: row, managed, set: {}, begin: {} }, deps.clock.now());
    if (isWritten(kept)) deps.announce(collection.name, row._id, row.app_id);
    return isWritten(kept);
  };

  return {
    /** Finds the resource's record and says what may be done with it. */
    look: async (resource: R, place: Place<R, Row> = {}): Promise<Stand<Row>> => {
      const { isReachable = () => true, isPeer = () => true } = place;
      const id = idOf(definition, resource);
      const row = await rows.find(id);
      const owner = collection.owner.kind;
      const at = { definition, what, resource, id, row, owner, isReachable: row === null || isReachable(row) };
      return standOf({ ...at, rivals: othersIn(store.by("external", id), resource).filter(isPeer) });
    },
    /**
     * The verdict when nothing may be written. An observed record is released, and so is its Secret; one made only once
     * is marked so.
     */
    report: async (
      resource: R,
      stand: MayNotWrite<Row>,
      describe: Describe<Row>,
      signal: AbortSignal,
    ): Promise<Verdict> => {
      const isObserved = resource.spec.managementPolicy === "Observe";
      if (stand.kind === "refused") return { ...refusal(stand.finding), ...(isObserved && { status: {} }) };
      const { row, finding } = stand;
      const isMine = row.managed?.uid === resource.metadata.uid;
      if (isObserved && isMine) await deps.ownSecret?.release(deps.secrets, resource, signal);
      const isChanged = await (isObserved ? release(deps, resource, row) : mark(resource, row));
      const { status, members, ...own } = await describe(row);
      const differing = isObserved ? differences(definition, row, members) : [];
      const more = differing.length > 0 ? `; the resource says otherwise of ${differing.join(", ")}` : "";
      const ready = { ...finding, message: finding.message + more };
      return { ready, status: { id: row._id, ...status }, ...own, isChanged };
    },
  };
};
