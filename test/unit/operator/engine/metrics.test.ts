import { expect } from "chai";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { controllerMetrics } from "../../../../operator/engine/metrics.ts";
import { type WorkQueue, workQueue } from "../../../../operator/engine/work-queue.ts";

/**
 * What dashboards and alerts for controller-runtime ask for, by panel. Sources, 2026-11: kubebuilder's
 * `grafana/controller-runtime-metrics.json`, Grafana's dashboard 15920, the mixins for kube-controller-manager.
 */
const expressions: Record<string, string> = {
  "reconciliations a second": 'sum(rate(controller_runtime_reconcile_total{job="$job"}[5m])) by (instance, pod)',
  results: "sum by (controller, result) (increase(controller_runtime_reconcile_total[5m]))",
  "errors a second":
    'sum(rate(controller_runtime_reconcile_errors_total{namespace="$namespace"}[5m])) by (instance, pod)',
  "errors by controller": 'rate(controller_runtime_reconcile_errors_total{controller=~"app|plan"}[5m]) > 0',
  "terminal errors": "sum by (controller) (rate(controller_runtime_terminal_reconcile_errors_total[5m]))",
  panics: "sum by (controller) (increase(controller_runtime_reconcile_panics_total[1h]))",
  "duration, p99":
    'histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{controller="app"}[5m])))',
  "duration, mean":
    "rate(controller_runtime_reconcile_time_seconds_sum[5m]) / rate(controller_runtime_reconcile_time_seconds_count[5m])",
  "workers in use":
    'controller_runtime_active_workers{controller="app"} / controller_runtime_max_concurrent_reconciles{controller="app"}',
  "depth of the queue": "sum(workqueue_depth) by (instance, name)",
  adds: 'sum(rate(workqueue_adds_total{name=~"$queue"}[5m])) by (instance, name)',
  retries: "sum(rate(workqueue_retries_total[5m])) by (controller, name)",
  "time in the queue":
    "histogram_quantile(0.50, sum(rate(workqueue_queue_duration_seconds_bucket[5m])) by (instance, name, le))",
  "time of work": "histogram_quantile(0.99, sum(rate(workqueue_work_duration_seconds_bucket[5m])) by (name, le))",
  "unfinished work": "sum(workqueue_unfinished_work_seconds) by (name)",
  "longest work": "max(workqueue_longest_running_processor_seconds) by (controller)",
  "requests to the API server": 'sum(rate(rest_client_requests_total{code=~"5.."}[5m])) by (method, host, code)',
  leader: "max(leader_election_master_status) by (name)",
  CPU: 'rate(process_cpu_seconds_total{job="$job", pod="$pod"}[5m])',
  memory: "process_resident_memory_bytes",
  "open files": "process_open_fds / process_max_fds",
  age: "time() - process_start_time_seconds",
};

/** Labels that Prometheus adds when it scrapes, and the bucket's bound. */
const added = ["job", "namespace", "instance", "pod", "le"];

describe("the operator's metrics", () => {
  const metrics = createProcessMetrics("operator");
  let text: string;

  before(async () => {
    const app = controllerMetrics(metrics, "app", 10);
    const queue: WorkQueue = workQueue(app.queueHooks(() => queue));
    queue.open();
    queue.add("a/b", "new");
    await queue.next(new AbortController().signal);
    app.reconciled({ result: "done", seconds: 0.01 });
    queue.done("a/b");
    metrics.leader.set({ name: "herald-operator" }, 1);
    metrics.apiRequests.inc({ code: "200", method: "GET", host: "kubernetes" });
    text = await metrics.registry.metrics();
  });

  for (const [panel, expression] of Object.entries(expressions)) {
    it(`answer the panel ${panel} of a dashboard made for controller-runtime`, () => {
      for (const name of namesIn(expression)) {
        const labels = labelsOf(text, name);
        expect(labels, `${name} is not there`).not.to.equal(null);
        expect([...(labels ?? []), ...added]).to.include.members(labelsIn(expression));
      }
    });
  }

  it("begin at zero, so that the first failure is an increase", () => {
    const zero = [
      'controller_runtime_reconcile_total{controller="app",result="error",program="operator"} 0',
      'controller_runtime_reconcile_errors_total{controller="app",program="operator"} 0',
      'workqueue_retries_total{name="app",controller="app",program="operator"} 0',
    ];
    expect(text.split("\n")).to.include.members(zero);
  });
});

const namesIn = (expression: string): string[] =>
  expression.match(/\b(controller_runtime|workqueue|rest_client|leader_election|process)_\w+/g) ?? [];

/** Those that it selects by and those that it groups by. */
const labelsIn = (expression: string): string[] => [
  ...[...expression.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label),
  ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", ")),
];

/** The labels of a sample's first line; null when there is none of the name. */
const labelsOf = (text: string, name: string): string[] | null => {
  const line = text.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
  return line === undefined ? null : [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
};
