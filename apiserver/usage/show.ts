import type { Clock } from "#core/domain/clock.ts";
import { showAs } from "#core/schema/json/show.ts";
import { QuotaUse, Usage } from "#core/schema/usage/usage.ts";
import type { WebhookBacklogs } from "#core/storage/usage/backlogs.ts";
import type { TenantUsage } from "#core/storage/usage/tenant-usage.ts";
import type { Caller } from "../access/caller.ts";
import type { quotaUses } from "../limits/quota.ts";

export type ShowUsageDeps = {
  usage: Pick<TenantUsage, "ofTenant">;
  backlogs: Pick<WebhookBacklogs, "ofTenant">;
  quotas: ReturnType<typeof quotaUses>;
  clock: Clock;
};

/** What the caller's organisation did and may do. Source: docs/reference/usage.md. */
export const showUsage =
  ({ usage, backlogs, quotas, clock }: ShowUsageDeps) =>
  async (caller: Pick<Caller, "tenant" | "plan">): Promise<Usage> => {
    const now = clock.now();
    const tenantId = caller.tenant._id;
    const [recent, backlog, uses] = await Promise.all([
      usage.ofTenant(tenantId, now),
      backlogs.ofTenant(tenantId),
      quotas(caller, now),
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
      },
      as_of: now,
    });
  };
