import type { Clock } from "#core/domain/clock.ts";
import { showAs } from "#core/schema/json/show.ts";
import { QuotaUse, Usage } from "#core/schema/usage/usage.ts";
import type { WebhookBacklogs } from "#core/storage/usage/backlogs.ts";
import type { TenantUsage } from "#core/storage/usage/tenant-usage.ts";
import type { Caller } from "../access/caller.ts";
import type { quotaUses } from "../limits/quota.ts";
import type { Billable } from "../limits/subscriber-quota.ts";

export type ShowUsageDeps = {
  usage: Pick<TenantUsage, "ofTenant">;
  backlogs: Pick<WebhookBacklogs, "ofTenant">;
  quotas: ReturnType<typeof quotaUses>;
  countApps: (tenantId: string) => Promise<number>;
  /** At most `most` are counted. */
  countSubscribers: (of: Billable) => Promise<number>;
  clock: Clock;
};

/** What the caller's organisation did and may do. Source: docs/reference/usage.md. */
export const showUsage =
  ({ usage, backlogs, quotas, clock, ...counts }: ShowUsageDeps) =>
  async (caller: Pick<Caller, "tenant" | "plan">): Promise<Usage> => {
    const now = clock.now();
    const tenantId = caller.tenant._id;
    const [recent, backlog, uses, allowances] = await Promise.all([
      usage.ofTenant(tenantId, now),
      backlogs.ofTenant(tenantId),
      quotas(caller, now),
      allowancesOf(counts, caller),
    ]);
    const quotaOf = (name: (typeof uses)[number]["metric"]): QuotaUse | null => {
      const found = uses.find(({ metric }) => metric === name);
      return found === undefined ? null : showAs(QuotaUse, { ...found, resets_at: found.resetsAt });
    };
    return showAs(Usage, {
      tenant_id: tenantId,
      ...recent,
      webhook_backlog: backlog.waiting,
      webhook_backlog_at: backlog.at,
      limits: {
        requests_per_second: caller.plan.api_rps,
        messages_per_month: quotaOf("messages_per_month"),
        messages_per_day: quotaOf("messages_per_day"),
        ...allowances,
        retention_days: caller.plan.retention_days,
      },
      as_of: now,
    });
  };

type Counts = Pick<ShowUsageDeps, "countApps" | "countSubscribers">;

/** What the plan limits, and how much of that there is. Where it limits no subscribers they are not counted. */
const allowancesOf = async (
  { countApps, countSubscribers }: Counts,
  { tenant, plan }: Pick<Caller, "tenant" | "plan">,
): Promise<Pick<Usage["limits"], "subscribers" | "apps" | "members">> => {
  const { subscribers, apps, members = null } = plan;
  const most = Math.max(subscribers ?? 0, 1);
  const [used, made] = await Promise.all([
    subscribers === null ? null : countSubscribers({ tenantId: tenant._id, most }),
    countApps(tenant._id),
  ]);
  return {
    subscribers: { limit: subscribers, used },
    apps: { limit: apps, used: made },
    members: { limit: members, used: null },
  };
};
