import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { apps } from "#core/storage/apps/apps.ts";
import { usage as quotaCounters } from "#core/storage/messages/usage.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import { tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { billableCount } from "../limits/billable-count.ts";
import { quotaUses } from "../limits/quota.ts";
import { showUsage } from "./show.ts";

export type UsagePlatform = { db: Db; clock: Clock; settings: { firstDayMessages: number } };

export type UsageUse = ReturnType<typeof usageUseCases>;

/** What the operations on usage do. */
export const usageUseCases = ({ db, clock, settings: { firstDayMessages } }: UsagePlatform) => ({
  show: showUsage({
    usage: tenantUsage(db),
    backlogs: webhookBacklogs(db),
    quotas: quotaUses({ usage: quotaCounters(db), firstDayMessages }),
    countApps: apps(db).owned.count,
    countSubscribers: billableCount(db, clock),
    clock,
  }),
});
