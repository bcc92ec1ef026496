import type { Clock } from "#core/domain/clock.ts";
import { sumOfUsage, usageFigures } from "#core/domain/usage/figures.ts";
import { loudest } from "#core/domain/usage/loudest.ts";
import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import type { OperatorMetrics } from "#core/runtime/metrics/operator.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { TenantSpec, TenantStatus } from "#core/schema/tenants/resource.ts";
import type { Store } from "../kube/store.ts";
import { pause } from "../kube/watch.ts";
import { usageStatus } from "../policies/tenants/usage.ts";
import type { UsageBoard } from "./board.ts";

export type MeasureDeps = {
  board: UsageBoard;
  tenants: Pick<Store<Resource<TenantSpec, TenantStatus>>, "all">;
  /** Names of tenants by their ids. */
  names: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  metrics: Pick<OperatorMetrics, "usage" | "tenantUsage" | "webhookBacklog" | "tenantWebhookBacklog">;
  clock: Clock;
  log: Log;
};

/** Measures until `stop` aborts; requeues the Tenants whose status is to say something else. */
export type Measure = (requeue: (key: string) => void, stop: AbortSignal) => Promise<void>;

const everyMs = 60_000;
/** Tenants that metrics name. */
const mostNamed = 10;

/** Reads once a minute what tenants use, for their status and for the metrics, which are gone when it ends. Never rejects. */
export const measure =
  (deps: MeasureDeps): Measure =>
  async (requeue, stop) => {
    while (!stop.aborted) {
      await measureOnce(deps, requeue).catch((err: unknown) => deps.log.warn({ err }, "usage.not_read"));
      await pause(everyMs, stop);
    }
    deps.board.forget();
    clear(deps.metrics);
  };

const measureOnce = async (deps: MeasureDeps, requeue: (key: string) => void): Promise<void> => {
  const { board, tenants, clock } = deps;
  await board.read();
  await show(deps);
  const now = clock.now();
  for (const tenant of tenants.all()) {
    const before = tenant.status?.usage;
    const id = tenant.status?.id;
    if (id !== undefined && usageStatus(board.of(id), before, now) !== before) requeue(keyOf(tenant));
  }
};

/** Sets the metrics anew: a tenant that is no longer among the loudest has none. */
const show = async ({ board, names, metrics }: MeasureDeps): Promise<void> => {
  const all = [...board.all()].map(([tenantId, figures]) => ({ tenantId, figures, counts: figures.last_hour }));
  const total = sumOfUsage(all.map(({ counts }) => counts));
  const loud = loudest(all, total, mostNamed);
  const nameOf = await names(loud.map(({ tenantId }) => tenantId));
  clear(metrics);
  for (const figure of usageFigures) metrics.usage.set({ figure }, total[figure]);
  metrics.webhookBacklog.set(all.reduce((sum, { figures }) => sum + figures.webhookBacklog, 0));
  for (const { tenantId: tenant, figures, counts } of loud) {
    const labels = { tenant, name: nameOf.get(tenant) ?? "" };
    metrics.tenantWebhookBacklog.set(labels, figures.webhookBacklog);
    for (const figure of usageFigures) metrics.tenantUsage.set({ ...labels, figure }, counts[figure]);
  }
};

const clear = (metrics: MeasureDeps["metrics"]): void => {
  metrics.usage.reset();
  metrics.tenantUsage.reset();
  metrics.webhookBacklog.remove(); // no value, rather than the 0 of one without labels that is reset
  metrics.tenantWebhookBacklog.reset();
};
