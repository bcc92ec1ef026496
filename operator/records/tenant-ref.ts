import type { ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import type { Resource } from "../kube/objects.ts";
import { type Common } from "./platform.ts";

export type HolderDeps = Pick<Common, "announce"> & { tenants: Pick<Tenants, "holding"> };

export type Made<Row extends ManagedRow> = {
  rows: Pick<ManagedRows<Row>, "remove">;
  collection: string;
  id: string;
  tenantId: string;
};

/**
 * Takes a record that was just made away when its tenant went, or lost the namespace, meanwhile. Who removes a tenant
 * looks for such records after the tenant is gone, so that one of the two sees the other.
 * @throws Error so that it is made anew.
 */
export const requireHolder = async <Row extends ManagedRow>(
  { tenants, announce }: HolderDeps,
  { metadata: { namespace = "", uid } }: Resource,
  { rows, collection, id, tenantId }: Made<Row>,
): Promise<void> => {
  const [holder] = await tenants.holding([namespace]);
  if (holder?._id === tenantId) return;
  if (await rows.remove(id, uid)) announce(collection, id);
  throw new Error(`${collection} ${id}: the namespace changed hands while it was made`);
};
