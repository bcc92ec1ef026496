import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { apps as appStore } from "#core/storage/apps/apps.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import { recentCounts } from "./recent-counts.ts";
import type { Billable } from "./subscriber-quota.ts";

const mostApps = 10_000; // of one tenant, for counting its subscribers

/** Counts the subscriptions of a tenant that count against its plan, over all apps; what it says may be 10 s old. */
export const billableCount = (db: Db, clock: Clock): ((of: Billable) => Promise<number>) => {
  const [counts, apps] = [subscriptionCounts(db), appStore(db)];
  return recentCounts(async ({ tenantId, most }: Billable): Promise<number> => {
    const owned = await apps.ofTenant(tenantId, mostApps);
    const ids = owned.map(({ _id }) => _id);
    return counts.billable(ids, most);
  }, clock);
};
