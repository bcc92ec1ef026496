import type { Finding } from "../policies/conditions.ts";
import { type Claimant, idOf, isRetained } from "../policies/management.ts";
import { audited } from "./audited.ts";
import { ownRecord } from "./heirs.ts";
import { tenantOf } from "./owner-refs.ts";
import type { NamedRow, Place, RecordDeps } from "./record-deps.ts";

type Around = { before?: (id: string) => Promise<Finding | null>; after?: (id: string) => Promise<void> };

export const dropping = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => {
  const { definition, rows, announce, collection } = deps;
  const dropRecord = droppingRecord(deps);

  return {
    /**
     * Removes the record and its Secret, or leaves both, as the resource says; another's are not touched. `before` may
     * say why the record cannot be removed yet; `after` follows the removal, and may be called again after a crash.
     * Neither is called for a record that stays. Of `place` is what it may inherit.
     */
    drop: async (
      resource: R,
      around: Around,
      signal: AbortSignal,
      place: Place<R, Row> = {},
    ): Promise<Finding | null> => {
      const blocked = await dropRecord(resource, around, place);
      if (blocked === null) await deps.ownSecret?.drop(deps.secrets, resource, signal);
      return blocked;
    },
    /** Removes the record when what it belongs to is gone; false when it is another's, or stays. */
    dropWith: async (resource: R, isOrphan: (row: Row) => Promise<boolean>): Promise<boolean> => {
      const row = await rows.find(idOf(definition, resource));
      const { uid } = resource.metadata;
      if (row === null || row.managed?.uid !== uid || !(await isOrphan(row))) return false;
      if (!(await rows.remove(row._id, uid))) return false;
      announce(collection.name, row._id, row.app_id);
      return true;
    },
    /**
     * Removes a record that was just made when its tenant was removed, or lost the namespace, meanwhile. The removal of a
     * tenant looks for such records after the tenant is gone, so that one of the two sees the other.
     * @throws Error so that the pass is made again
     */
    requireTenant: async (resource: R, tenantId: string): Promise<void> => {
      if ((await tenantOf(deps, resource))?._id === tenantId) return;
      const id = idOf(definition, resource);
      if (await rows.remove(id, resource.metadata.uid)) announce(collection.name, id);
      throw new Error(`${collection.name} ${id}: the namespace changed hands while it was made`);
    },
  };
};

const droppingRecord = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => {
  const { definition, rows, announce, collection } = deps;
  const ownOf = ownRecord(deps);
  return async (resource: R, around: Around, place: Place<R, Row>): Promise<Finding | null> => {
    const { before, after } = around;
    const id = idOf(definition, resource);
    const { uid } = resource.metadata;
    const row = await ownOf(resource, place);
    if (row === "another's") return null;
    if (isRetained(resource)) {
      if (row !== null) await release(deps, resource, row);
      return null;
    }
    const blocked = (await before?.(id)) ?? null;
    if (blocked !== null) return blocked;
    const gone = { id, kind: "removed", before: row, after: null } as const;
    const remove = (): Promise<boolean> => rows.remove(id, uid);
    if (await (row === null ? remove() : audited(deps)(resource, gone, remove, (isGone) => isGone)))
      announce(collection.name, id, row?.app_id);
    await after?.(id);
    return null;
  };
};

/** Leaves the record as it is, no longer managed; false when it was another's. */
export const release = async <R extends Claimant, Row extends NamedRow>(
  { rows, collection, announce, clock }: RecordDeps<R, Row>,
  { metadata: { uid } }: Claimant,
  { _id, managed, app_id: appId }: Row,
): Promise<boolean> => {
  const isReleased = managed?.uid === uid && (await rows.release(_id, uid, clock.now()));
  if (isReleased) announce(collection.name, _id, appId);
  return isReleased;
};
