import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { TenantUsageRow } from "#core/storage/usage/tenant-usage.ts";
import type { System } from "./system.ts";

type Usage = { stored: number; month: number; steps: number };

/** The deliveries that are stored and count, and what the month and the periods of five minutes have of them. */
export const usageOf = async ({ db }: Pick<System, "db">): Promise<Usage> => {
  const stored = await db
    .collection<DeliveryRow>("deliveries")
    .countDocuments({ $or: [{ status: { $nin: ["suppressed", "scheduled"] } }, { sent_at: { $exists: true } }] });
  const rows = await db.collection<TenantUsageRow>("tenant_usage").find().toArray();
  const counted = (period: string): number =>
    rows.filter(({ _id }) => _id.startsWith(period)).reduce((sum, { deliveries = 0 }) => sum + deliveries, 0);
  return { stored, month: counted("month/"), steps: counted("5m/") };
};

export const isExact = ({ stored, month, steps }: Usage): boolean => month === stored && steps === stored;

/** Throws unless the month and the periods of five minutes have every delivery that is stored, and no more. */
export const expectUsageIsExact = async (system: Pick<System, "db">): Promise<void> => {
  const { stored, ...counted } = await usageOf(system);
  expect(counted).to.deep.equal({ month: stored, steps: stored });
};
