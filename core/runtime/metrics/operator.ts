import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type OperatorMetrics = ReturnType<typeof operatorMetrics>;

/** Reconciling, under the names and labels of controller-runtime, so that its dashboards and alerts work. */
export const operatorMetrics = (registry: Registry) => ({
  ...reconcileMetrics(registry),
  ...workQueueMetrics(registry),
  ...apiMetrics(registry),
});

// controller-runtime v0.21 pkg/internal/controller/metrics: those of its 35 buckets among which our reconciles differ
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueBuckets = [0.001, 0.01, 0.1, 1, 10, 100, 1_000]; // client-go: powers of ten; ours start at 1 ms

const reconcileMetrics = (registry: Registry) => {
  const registers = [registry];
  const labelNames = ["controller"] as const;
  return {
    reconciles: new Counter({
      name: "controller_runtime_reconcile_total",
      help: "reconciles by result (success, error, requeue, requeue_after)",
      labelNames: ["controller", "result"] as const,
      registers,
    }),
    reconcileErrors: new Counter({
      name: "controller_runtime_reconcile_errors_total",
      help: "reconciles that failed",
      labelNames,
      registers,
    }),
    terminalErrors: new Counter({
      name: "controller_runtime_terminal_reconcile_errors_total",
      help: "reconciles that failed for a reason only a change of the resource can mend",
      labelNames,
      registers,
    }),
    reconcilePanics: new Counter({
      name: "controller_runtime_reconcile_panics_total",
      help: "reconciles that threw what no code of ours throws",
      labelNames,
      registers,
    }),
    reconcileSeconds: new Histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "duration of a reconcile",
      labelNames,
      buckets: reconcileBuckets,
      registers,
    }),
    maxReconciles: new Gauge({
      name: "controller_runtime_max_concurrent_reconciles",
      help: "reconciles that may run at the same time",
      labelNames,
      registers,
    }),
    activeWorkers: new Gauge({
      name: "controller_runtime_active_workers",
      help: "reconciles that are running",
      labelNames,
      registers,
    }),
  };
};

const workQueueMetrics = (registry: Registry) => {
  const registers = [registry];
  const labelNames = ["name", "controller"] as const;
  return {
    queueDepth: new Gauge({ name: "workqueue_depth", help: "keys that wait", labelNames, registers }),
    queueAdds: new Counter({ name: "workqueue_adds_total", help: "keys added", labelNames, registers }),
    queueRetries: new Counter({
      name: "workqueue_retries_total",
      help: "keys added again after a failure",
      labelNames,
      registers,
    }),
    queueSeconds: new Histogram({
      name: "workqueue_queue_duration_seconds",
      help: "how long a key waited before its work began",
      labelNames,
      buckets: queueBuckets,
      registers,
    }),
    workSeconds: new Histogram({
      name: "workqueue_work_duration_seconds",
      help: "how long the work on a key took",
      labelNames,
      buckets: queueBuckets,
      registers,
    }),
    unfinishedSeconds: new Gauge({
      name: "workqueue_unfinished_work_seconds",
      help: "seconds of work under way that no duration has counted yet; grows when something hangs",
      labelNames,
      registers,
    }),
    longestSeconds: new Gauge({
      name: "workqueue_longest_running_processor_seconds",
      help: "seconds that the longest work under way has been running",
      labelNames,
      registers,
    }),
  };
};

const apiMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    leader: new Gauge({
      name: "leader_election_master_status",
      help: "1 while this process holds the lease, else 0",
      labelNames: ["name"] as const,
      registers,
    }),
    apiRequests: new Counter({
      name: "rest_client_requests_total",
      help: "requests to the Kubernetes API by status code (<error> when none came), method and host",
      labelNames: ["code", "method", "host"] as const,
      registers,
    }),
    watchRestarts: new Counter({
      name: "herald_watch_restarts_total",
      help: "watches begun anew, by kind and reason (end, gone, error)",
      labelNames: ["kind", "reason"] as const,
      registers,
    }),
    driftRepairs: new Counter({
      name: "herald_drift_repairs_total",
      help: "documents and streams that were changed behind a resource's back and set right, by kind",
      labelNames: ["kind"] as const,
      registers,
    }),
  };
};
