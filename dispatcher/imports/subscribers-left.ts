import type { Apps } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { ImportRow } from "#core/storage/imports/imports.ts";
import type { SubscriptionCounts } from "#core/storage/people/subscription-counts.ts";

export type SubscribersLeftDeps = {
  directory: Pick<Directory, "tenant" | "plan">;
  apps: Pick<Apps, "ofTenant">;
  counts: Pick<SubscriptionCounts, "billable">;
};

const mostApps = 10_000; // of one tenant

/**
 * How many more subscriptions a tenant's plan admits; null when it sets no limit. Others may use of it meanwhile.
 * Source: docs/reference/limits.md#subscriber-quota.
 */
export const subscribersLeft =
  ({ directory, apps, counts }: SubscribersLeftDeps) =>
  async ({ tenant_id: tenantId }: Pick<ImportRow, "tenant_id">): Promise<number | null> => {
    const tenant = await directory.tenant(tenantId);
    const plan = tenant === null ? null : await directory.plan(tenant.plan);
    if (plan === null) return 0; // its configuration is going
    if (plan.subscribers === null) return null;
    const owned = await apps.ofTenant(tenantId, mostApps);
    const ids = owned.map(({ _id }) => _id);
    return plan.subscribers - (await counts.billable(ids, plan.subscribers));
  };
