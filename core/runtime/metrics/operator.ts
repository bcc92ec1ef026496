import type { Registry } from "prom-client";
import { metricsIn } from "./series.ts";

export type OperatorMetrics = ReturnType<typeof operatorMetrics>;

/** Reconciling, under the names and labels of controller-runtime, so that its dashboards and alerts work. */
export const operatorMetrics = (registry: Registry) => ({
  ...reconcileMetrics(registry),
  ...workQueueMetrics(registry),
  ...apiMetrics(registry),
  ...usageMetrics(registry),
});

// controller-runtime v0.21 pkg/internal/controller/metrics: those of its 35 buckets among which our reconciles differ
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueBuckets = [0.001, 0.01, 0.1, 1, 10, 100, 1_000]; // client-go: powers of ten; ours start at 1 ms

const reconcileMetrics = (registry: Registry) => {
  const { counter, gauge, histogram } = metricsIn(registry);
  const labels = ["controller"] as const;
  return {
    reconciles: counter(
      "controller_runtime_reconcile_total",
      "reconciles by result (success, error, requeue, requeue_after)",
      ["controller", "result"],
    ),
    reconcileErrors: counter("controller_runtime_reconcile_errors_total", "reconciles that failed", labels),
    terminalErrors: counter(
      "controller_runtime_terminal_reconcile_errors_total",
      "reconciles that failed for a reason only a change of the resource can mend",
      labels,
    ),
    reconcilePanics: counter(
      "controller_runtime_reconcile_panics_total",
      "reconciles that threw what no code of ours throws",
      labels,
    ),
    reconcileSeconds: histogram(
      "controller_runtime_reconcile_time_seconds",
      "duration of a reconcile",
      reconcileBuckets,
      labels,
    ),
    maxReconciles: gauge(
      "controller_runtime_max_concurrent_reconciles",
      "reconciles that may run at the same time",
      labels,
    ),
    activeWorkers: gauge("controller_runtime_active_workers", "reconciles that are running", labels),
  };
};

const workQueueMetrics = (registry: Registry) => {
  const { counter, gauge, histogram } = metricsIn(registry);
  const labels = ["name", "controller"] as const;
  return {
    queueDepth: gauge("workqueue_depth", "keys that wait", labels),
    queueAdds: counter("workqueue_adds_total", "keys added", labels),
    queueRetries: counter("workqueue_retries_total", "keys added again after a failure", labels),
    queueSeconds: histogram(
      "workqueue_queue_duration_seconds",
      "how long a key waited before its work began",
      queueBuckets,
      labels,
    ),
    workSeconds: histogram("workqueue_work_duration_seconds", "how long the work on a key took", queueBuckets, labels),
    unfinishedSeconds: gauge(
      "workqueue_unfinished_work_seconds",
      "seconds of work under way that no duration has counted yet; grows when something hangs",
      labels,
    ),
    longestSeconds: gauge(
      "workqueue_longest_running_processor_seconds",
      "seconds that the longest work under way has been running",
      labels,
    ),
  };
};

/** The only metrics that name tenants: the loudest ten, so that labels stay bounded (docs/decisions/0094). */
const usageMetrics = (registry: Registry) => {
  const { gauge } = metricsIn(registry);
  return {
    usage: gauge(
      "herald_usage_last_hour",
      "what all tenants did in the last 60 to 65 minutes, by figure (requests, messages, deliveries, events, webhook_requests, bytes); told by the leader",
      ["figure"],
    ),
    tenantUsage: gauge(
      "herald_tenant_usage_last_hour",
      "the same of each of the ten loudest tenants: those with the largest share of any figure",
      ["tenant", "name", "figure"],
    ),
    webhookBacklog: gauge(
      "herald_webhook_backlog",
      "deliveries to endpoints that wait, of all tenants; told by the leader",
    ),
    tenantWebhookBacklog: gauge(
      "herald_tenant_webhook_backlog",
      "deliveries to endpoints that wait, of each of the ten loudest tenants",
      ["tenant", "name"],
    ),
  };
};

const apiMetrics = (registry: Registry) => {
  const { counter, gauge } = metricsIn(registry);
  return {
    leader: gauge("leader_election_master_status", "1 while this process holds the lease, else 0", ["name"]),
    apiRequests: counter(
      "rest_client_requests_total",
      "requests to the Kubernetes API by status code (<error> when none came), method and host",
      ["code", "method", "host"],
    ),
    watchRestarts: counter("herald_watch_restarts_total", "watches begun anew, by kind and reason (end, gone, error)", [
      "kind",
      "reason",
    ]),
    sealed: gauge(
      "herald_key_ring_sealed",
      "stored secrets that each key of the key ring seals; known=false: the key is not in the ring; told by the leader",
      ["kid", "known"],
    ),
    driftRepairs: counter(
      "herald_drift_repairs_total",
      "documents and streams that were changed behind a resource's back and set right, by kind",
      ["kind"],
    ),
  };
};
