import type { AnyBulkWriteOperation, Db } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import { noUsage, sumOfUsage, type UsageCounts, usageFigures } from "../../domain/usage/figures.ts";
import { monthOf } from "../messages/usage.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { refusedOf } from "../mongo/duplicate.ts";

/** What a tenant did in one period. `_id` is `<period>/<tenant>`, so that a period's tenants stand together. */
export type TenantUsageRow = Partial<UsageCounts> & {
  _id: string;
  tenant_id: string;
  /** Pieces of work under way, and how many of their deliveries are in `deliveries`: a repeat adds the rest only. */
  counting?: { id: string; count: number }[];
  expires_at: Date;
};

/** What is to be added to a row. */
export type UsageChange = { tenantId: string; period: Period; counts: UsageCounts };

/** Five minutes (`5m/2026-11-23T18:05`) or a calendar month (`month/2026-11`), UTC. */
export type Period = { id: string; expiresAt: Date };

export const tenantUsageCollection: CollectionSpec = {
  name: "tenant_usage",
  indexes: [{ key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 }],
  owner: { kind: "tenant", member: "tenant_id" },
  appRemoval: { kept: "counts of the tenant" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

/** What a tenant did lately. */
export type RecentUsage = { last_hour: UsageCounts; this_month: UsageCounts };

const stepMs = 300_000;
const hourMs = 3_600_000;
const kept = { stepMs: 2 * hourMs, monthMs: 400 * dayMs };

/** The periods that what happens now counts in. */
export const periodsAt = (now: Date): Period[] => [
  { id: stepOf(now), expiresAt: new Date(now.getTime() + kept.stepMs) },
  { id: `month/${monthOf(now)}`, expiresAt: new Date(now.getTime() + kept.monthMs) },
];

/** What instants have in common that count in the same periods: a month begins with five minutes. */
export const stepNumber = (at: Date): number => Math.floor(at.getTime() / stepMs);

const stepOf = (at: Date): string => `5m/${new Date(stepNumber(at) * stepMs).toISOString().slice(0, 16)}`;

export type TenantUsage = ReturnType<typeof tenantUsage>;

/** What tenants did. The last hour is made of whole periods of five minutes: it has 60 to 65. */
export const tenantUsage = (db: Db) => {
  const rows = collectionOf<TenantUsageRow>(db, tenantUsageCollection);

  /** Sums by tenant over the periods from one to another, both included. */
  const sums = async (from: string, to: string): Promise<Map<string, UsageCounts>> => {
    const _id = { $gte: `${from}/`, $lt: `${to}0` }; // "0" follows "/"
    const $group = {
      _id: "$tenant_id",
      ...Object.fromEntries(usageFigures.map((name) => [name, { $sum: `$${name}` }])),
    };
    const found = rows.aggregate<UsageCounts & { _id: string }>(
      [{ $match: { _id } }, { $group }, { $limit: mostTenants }],
      { batchSize: mostTenants + 1 },
    );
    return new Map((await found.toArray()).map(({ _id: tenantId, ...counts }) => [tenantId, counts]));
  };

  return {
    /** Adds to what is stored, in one write; gives back what could not be written, to be added later. */
    add: async (changes: readonly UsageChange[]): Promise<UsageChange[]> => {
      try {
        await rows.bulkWrite(changes.map(added), { ordered: false });
        return [];
      } catch (error) {
        return refusedOf(changes, error);
      }
    },

    ofTenant: async (tenantId: string, now: Date): Promise<RecentUsage> => {
      const month = `month/${monthOf(now)}/${tenantId}`;
      const ids = [...lastHour(now).map((step) => `${step}/${tenantId}`), month];
      const found = await rows
        .find({ _id: { $in: ids } }, { projection: { counting: 0 }, batchSize: ids.length + 1 })
        .toArray();
      const { of = [], others = [] } = Object.groupBy(found, ({ _id }) => (_id === month ? "of" : "others"));
      return { last_hour: sumOfUsage(others), this_month: sumOfUsage(of) };
    },

    /** Of every tenant that did something this month, or in the last hour. */
    ofAll: async (now: Date): Promise<Map<string, RecentUsage>> => {
      const [first = "", last = ""] = [lastHour(now)[0], lastHour(now).at(-1)];
      const month = `month/${monthOf(now)}`;
      const [hours, months] = await Promise.all([sums(first, last), sums(month, month)]);
      const ids = new Set([...hours.keys(), ...months.keys()]);
      const of = (id: string) => ({ last_hour: hours.get(id) ?? noUsage(), this_month: months.get(id) ?? noUsage() });
      return new Map([...ids].map((id) => [id, of(id)]));
    },
  };
};

/** Tenants of one installation that are read at once. */
const mostTenants = 50_000;

/** The periods of five minutes of the last hour, the oldest first. */
const lastHour = (now: Date): string[] =>
  Array.from({ length: hourMs / stepMs + 1 }, (_, n) => stepOf(new Date(now.getTime() - hourMs + n * stepMs)));

const added = ({ tenantId, period, counts }: UsageChange): AnyBulkWriteOperation<TenantUsageRow> => ({
  updateOne: {
    filter: { _id: `${period.id}/${tenantId}` },
    update: { $inc: counts, $setOnInsert: { tenant_id: tenantId, expires_at: period.expiresAt } },
    upsert: true,
  },
});
