import { isDeepStrictEqual } from "node:util";
import type { UsageCounts } from "#core/domain/usage/figures.ts";
import type { TenantStatus } from "#core/schema/tenants/resource.ts";
import type { TenantFigures } from "../../usage/board.ts";

export type UsageStatus = NonNullable<TenantStatus["usage"]>;

/**
 * The status members about what a tenant uses; as before while nothing is known, absent for one that never used anything.
 * The figures have two digits and change once a minute at most, so that busy tenants do not make the API server busy.
 */
export const usageStatus = (
  figures: TenantFigures | null,
  before: UsageStatus | undefined,
  now: Date,
): UsageStatus | undefined => {
  if (figures === null) return before;
  if (before !== undefined && now.getTime() - Date.parse(before.updatedAt) < leastMs) return before;
  const status: UsageStatus = {
    lastHour: coarse(figures.last_hour),
    thisMonth: coarse(figures.this_month),
    webhookBacklog: twoDigits(figures.webhookBacklog),
    updatedAt: now.toISOString(),
  };
  if (before === undefined && isNothing(status)) return undefined;
  return isDeepStrictEqual({ ...status, updatedAt: before?.updatedAt }, before) ? before : status;
};

const leastMs = 55_000; // the figures are read each minute

const coarse = ({ webhook_requests: webhookRequests, ...counts }: UsageCounts): UsageStatus["lastHour"] => ({
  requests: twoDigits(counts.requests),
  messages: twoDigits(counts.messages),
  deliveries: twoDigits(counts.deliveries),
  events: twoDigits(counts.events),
  webhookRequests: twoDigits(webhookRequests),
  bytes: twoDigits(counts.bytes),
});

/** 12,345 becomes 12,000. */
const twoDigits = (count: number): number => {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return Math.floor(count / step) * step;
};

const isNothing = ({ lastHour, thisMonth, webhookBacklog }: UsageStatus): boolean =>
  [...Object.values(lastHour), ...Object.values(thisMonth), webhookBacklog].every((count) => count === 0);
