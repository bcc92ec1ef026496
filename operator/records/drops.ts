import type { Finding } from "../policies/conditions.ts";
import { type Claimant, idOf, isRetained } from "../policies/management.ts";
import type { NamedRow, RecordDeps } from "./record-deps.ts";
import { tenantOf } from "./tenant-ref.ts";

export type Dropping = { before?: (id: string) => Promise<Finding | null>; after?: (id: string) => Promise<void> };

/**
 * Removes a record and its Secret, or leaves both, as its resource says; gives the reason when it cannot be removed
 * yet.
 */
export const drop = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  dropping: Dropping,
  signal: AbortSignal,
): Promise<Finding | null> => {
  const blocked = await dropRecord(deps, resource, dropping);
  if (blocked === null) await deps.ownSecret?.drop(deps.secrets, resource, signal);
  return blocked;
};

const dropRecord = async <R extends Claimant, Row extends NamedRow>(
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
  if (await deps.rows.remove(id, uid)) deps.announce(deps.collection.name, id, row?.app_id);
  await after?.(id);
  return null;
};

/** Removes the record when what it belongs to is gone; false when it is another's, or stays. */
export const dropWith = async <R extends Claimant, Row extends NamedRow>(
  { definition, rows, collection, announce }: RecordDeps<R, Row>,
  resource: R,
  isOrphan: (row: Row) => Promise<boolean>,
): Promise<boolean> => {
  const row = await rows.find(idOf(definition, resource));
  const { uid } = resource.metadata;
  if (row === null || row.managed?.uid !== uid || !(await isOrphan(row))) return false;
  if (!(await rows.remove(row._id, uid))) return false;
  announce(collection.name, row._id, row.app_id);
  return true;
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

/** Removes a record whose tenant was removed while it was made. @throws Error so that the pass is made again */
export const requireTenant = async <R extends Claimant, Row extends NamedRow>(
  { definition, rows, collection, announce, owners }: RecordDeps<R, Row>,
  resource: R,
  tenantId: string,
): Promise<void> => {
  if ((await tenantOf({ owners }, resource))?._id === tenantId) return;
  const id = idOf(definition, resource);
  if (await rows.remove(id, resource.metadata.uid)) announce(collection.name, id);
  throw new Error(`${collection.name} ${id}: the namespace changed hands while it was made`);
};
