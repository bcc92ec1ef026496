import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import type { Resource } from "../kube/objects.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import type { Platform } from "./platform.ts";
import type { Place } from "./record-deps.ts";

/** The tenant that owns a resource's namespace. */
export const tenantOf = async (
  { owners }: Pick<Platform, "owners">,
  { metadata: { namespace = "" } }: Resource,
): Promise<TenantRow | undefined> => (await owners.tenants.withNamespaces([namespace]))[0];

export const noTenant = ({ metadata }: Resource): Finding =>
  refused("TenantNotFound", `no tenant owns the namespace ${metadata.namespace ?? ""}`);

/**
 * A resource in a tenant's namespace reaches the tenant's records only, and those in the tenant's namespaces are its
 * peers.
 */
export const inTenant = <R extends Resource>({ _id, namespaces }: TenantRow): Place<R, { tenant_id: string }> => ({
  isReachable: (row) => row.tenant_id === _id,
  isPeer: ({ metadata }) => namespaces.includes(metadata.namespace ?? ""),
});
