import { type Dashboard, graph, here, quantileBy, rateBy, stat } from "./layout.ts";

const own = `${here}, program="operator"`;

export const operator: Dashboard = {
  name: "operator",
  title: "Operator",
  description: "Custom resources and their reconciliation, under controller-runtime's names",
  rows: [
    {
      title: "Resources",
      panels: [
        stat("Leaders", "short", "Operators that have the Lease: one", `sum(leader_election_master_status{${own}})`),
        stat(
          "Ready",
          "short",
          "Resources that are as they ask",
          `sum(max by (kind) (herald_resources{${here}, ready="True"}))`,
        ),
        stat(
          "Waiting",
          "short",
          "Resources that the operator is still trying to make true",
          `sum(max by (kind) (herald_resources{${here}, ready="Unknown"}))`,
        ),
        stat(
          "Refused",
          "short",
          "Resources that somebody must change: kubectl get herald -A",
          `sum(max by (kind) (herald_resources{${here}, ready="False"}))`,
        ),
        graph("Resources by kind", "short", "As last seen", [
          { expr: `sum by (kind) (max by (kind, ready) (herald_resources{${here}}))`, legend: "{{kind}}" },
        ]),
        graph("Not Ready, by kind", "short", "Waiting (Unknown) and refused (False)", [
          { expr: `max by (kind, ready) (herald_resources{${here}, ready!="True"})`, legend: "{{kind}}, {{ready}}" },
        ]),
        graph("Drift repaired", "ops", "Records and streams that were changed behind a resource's back and set right", [
          { expr: rateBy("kind", `herald_drift_repairs_total{${here}}`), legend: "{{kind}}" },
        ]),
      ],
    },
    {
      title: "Reconciling",
      panels: [
        graph("Passes", "ops", "Reconciles by kind", [
          { expr: rateBy("controller", `controller_runtime_reconcile_total{${own}}`), legend: "{{controller}}" },
        ]),
        graph("Failures", "ops", "error: tried again; terminal: waits for a change of the resource", [
          {
            expr: rateBy("controller", `controller_runtime_reconcile_errors_total{${own}}`),
            legend: "{{controller}}, error",
          },
          {
            expr: rateBy("controller", `controller_runtime_terminal_reconcile_errors_total{${own}}`),
            legend: "{{controller}}, terminal",
          },
        ]),
        graph("Duration, p99", "s", "Of one pass", [
          {
            expr: quantileBy(0.99, "controller", `controller_runtime_reconcile_time_seconds_bucket{${own}}`),
            legend: "{{controller}}",
          },
        ]),
        graph("Queue", "short", "Resources that wait for their turn", [
          { expr: `max by (controller) (workqueue_depth{${own}})`, legend: "{{controller}}" },
        ]),
        graph("Wait, p99", "s", "How long a resource waits for its turn", [
          {
            expr: quantileBy(0.99, "controller", `workqueue_queue_duration_seconds_bucket{${own}}`),
            legend: "{{controller}}",
          },
        ]),
        graph("Retries", "ops", "Resources that are put back after a failure", [
          { expr: rateBy("controller", `workqueue_retries_total{${own}}`), legend: "{{controller}}" },
        ]),
        graph("Workers", "percentunit", "Passes that run, of those that may", [
          {
            expr: `max by (controller) (controller_runtime_active_workers{${own}}) / max by (controller) (controller_runtime_max_concurrent_reconciles{${own}})`,
            legend: "{{controller}}",
          },
        ]),
        graph("Longest pass under way", "s", "Grows when something hangs; a pass is cut off after a minute", [
          {
            expr: `max by (controller) (workqueue_longest_running_processor_seconds{${own}})`,
            legend: "{{controller}}",
          },
        ]),
      ],
    },
    {
      title: "Kubernetes API",
      panels: [
        graph("Requests", "reqps", "By method and status; <error> got no answer", [
          { expr: rateBy("method, code", `rest_client_requests_total{${own}}`), legend: "{{method}} {{code}}" },
        ]),
        graph("Watches begun anew", "ops", "end: closed by the server; gone: 410; error: broken or silent", [
          { expr: rateBy("kind, reason", `herald_watch_restarts_total{${here}}`), legend: "{{kind}}, {{reason}}" },
        ]),
        graph("Leaders by pod", "short", "1: this one leads", [
          { expr: `max by (pod) (leader_election_master_status{${own}})`, legend: "{{pod}}" },
        ]),
      ],
    },
  ],
};
