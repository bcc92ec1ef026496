import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { TenantUsageRow } from "#core/storage/usage/tenant-usage.ts";
import type { System } from "./system.ts";

/** Throws unless the month and the periods of five minutes have every delivery that is stored, and no more. */
export const expectUsageIsExact = async ({ db }: Pick<System, "db">): Promise<void> => {
  const stored = await db
    .collection<DeliveryRow>("deliveries")
    .countDocuments({ status: { $nin: ["suppressed", "scheduled"] } });
  const rows = await db.collection<TenantUsageRow>("tenant_usage").find().toArray();
  const counted = (period: string): number =>
    rows.filter(({ _id }) => _id.startsWith(period)).reduce((sum, { deliveries = 0 }) => sum + deliveries, 0);
  expect({ month: counted("month/"), steps: counted("5m/") }).to.deep.equal({ month: stored, steps: stored });
};
