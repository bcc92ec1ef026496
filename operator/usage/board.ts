import type { Clock } from "#core/domain/clock.ts";
import { noUsage } from "#core/domain/usage/figures.ts";
import type { WebhookBacklogs } from "#core/storage/usage/backlogs.ts";
import type { RecentUsage, TenantUsage } from "#core/storage/usage/tenant-usage.ts";

/** What a tenant uses. */
export type TenantFigures = RecentUsage & { webhookBacklog: number };

export type UsageBoard = {
  /** Of one tenant; null while nothing is known. */
  of: (tenantId: string) => TenantFigures | null;
  /** Of all that used something. */
  all: () => ReadonlyMap<string, TenantFigures>;
  read: () => Promise<void>;
  forget: () => void;
};

export type UsageBoardDeps = {
  usage: Pick<TenantUsage, "ofAll">;
  backlogs: Pick<WebhookBacklogs, "ofAll">;
  clock: Clock;
};

/** What all tenants use, as it was read last: three queries, however many tenants there are. */
export const usageBoard = ({ usage, backlogs, clock }: UsageBoardDeps): UsageBoard => {
  let known: Map<string, TenantFigures> | null = null;
  return {
    of: (tenantId) => (known === null ? null : (known.get(tenantId) ?? nothing())),
    all: () => known ?? new Map(),
    read: async () => {
      const [recent, waiting] = await Promise.all([usage.ofAll(clock.now()), backlogs.ofAll()]);
      const ids = new Set([...recent.keys(), ...waiting.keys()]);
      known = new Map(
        [...ids].map((id) => [id, { ...nothing(), ...recent.get(id), webhookBacklog: waiting.get(id) ?? 0 }]),
      );
    },
    forget: () => {
      known = null;
    },
  };
};

const nothing = (): TenantFigures => ({ last_hour: noUsage(), this_month: noUsage(), webhookBacklog: 0 });
