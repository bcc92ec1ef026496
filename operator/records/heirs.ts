import { keyOf } from "#core/runtime/kube/objects.ts";
import { type Claimant, claimOf, idOf, isMine } from "../policies/management.ts";
import type { NamedRow, Place, RecordDeps } from "./record-deps.ts";

/** Finds the record of a resource that goes, marked as its own; null when it has none. */
export const ownRecord = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => {
  const { definition, rows, store, clock } = deps;

  /**
   * Whether a former resource of its name left a record that this one inherits, although nothing was written into it
   * since, e.g. for want of a Secret. Another may have the name by now, when this one is long gone.
   */
  const isHeir = (resource: R, row: Row, { isReachable = () => true }: Place<R, Row>): boolean => {
    const named = store.get(keyOf(resource)) ?? resource;
    return named.metadata.uid === resource.metadata.uid && isMine(row, { definition, resource }) && isReachable(row);
  };

  return async (resource: R, place: Place<R, Row>): Promise<Row | null | "another's"> => {
    const id = idOf(definition, resource);
    const row = await rows.find(id);
    if (row === null || row.managed?.uid === resource.metadata.uid) return row;
    if (!isHeir(resource, row, place)) return "another's";
    const managed = claimOf(definition, resource);
    await rows.keep({ id, found: row, managed, set: {}, begin: {} }, clock.now());
    return rows.find(id);
  };
};
