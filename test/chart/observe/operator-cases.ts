import { type AlertCase, all, histogram } from "./histories.ts";

const operator = 'program="operator"';
const apps = `${operator},controller="app"`;

/** For the alerts of the operator. */
export const operatorCases: Record<string, AlertCase> = {
  HeraldOperatorNotLeading: {
    at: "5m",
    fires: {
      [all("leader_election_master_status", `${operator},pod="a"`)]: "0x10",
      [all("leader_election_master_status", `${operator},pod="b"`)]: "0x10",
    },
    rests: {
      [all("leader_election_master_status", `${operator},pod="a"`)]: "0x10",
      [all("leader_election_master_status", `${operator},pod="b"`)]: "1x10",
    },
  },
  HeraldReconcileErrors: {
    at: "40m",
    fires: {
      [all("controller_runtime_reconcile_errors_total", apps)]: "0+2x50",
      [all("controller_runtime_reconcile_total", `${apps},result="error"`)]: "0+2x50",
      [all("controller_runtime_reconcile_total", `${apps},result="success"`)]: "0+8x50",
    },
    rests: {
      [all("controller_runtime_reconcile_errors_total", apps)]: "0+1x50",
      [all("controller_runtime_reconcile_total", `${apps},result="error"`)]: "0+1x50",
      [all("controller_runtime_reconcile_total", `${apps},result="success"`)]: "0+19x50",
    },
  },
  HeraldReconcilePanics: {
    at: "10m",
    fires: { [all("controller_runtime_reconcile_panics_total", apps)]: "0x5 1x10" },
    rests: { [all("controller_runtime_reconcile_panics_total", apps)]: "1x20" },
  },
  HeraldWorkQueueStuck: {
    at: "10m",
    fires: { [all("workqueue_longest_running_processor_seconds", apps)]: "100x20" },
    rests: { [all("workqueue_longest_running_processor_seconds", apps)]: "60x20" },
  },
  HeraldWorkQueueSlow: {
    at: "40m",
    fires: histogram("workqueue_queue_duration_seconds", apps, { "10": 50, "100": 100 }),
    rests: histogram("workqueue_queue_duration_seconds", apps, { "1": 50, "10": 100 }),
  },
  HeraldResourcesRefused: {
    at: "25m",
    fires: { [all("herald_resources", 'kind="app",ready="False"')]: "1x30" },
    rests: { [all("herald_resources", 'kind="app",ready="False"')]: "1x14 0x20" },
  },
  HeraldResourcesWaiting: {
    at: "40m",
    fires: { [all("herald_resources", 'kind="app",ready="Unknown"')]: "1x50" },
    rests: { [all("herald_resources", 'kind="app",ready="Unknown"')]: "1x25 0 1x20" },
  },
  HeraldDriftRepaired: {
    at: "50m",
    fires: { [all("herald_drift_repairs_total", 'kind="app"')]: "0+1x60" },
    rests: { [all("herald_drift_repairs_total", 'kind="app"')]: "0+1x5 5x50" },
  },
  HeraldKubernetesApiFails: {
    at: "25m",
    fires: {
      [all("rest_client_requests_total", `${operator},code="<error>"`)]: "0+2x30",
      [all("rest_client_requests_total", `${operator},code="200"`)]: "0+8x30",
    },
    rests: {
      [all("rest_client_requests_total", `${operator},code="404"`)]: "0+2x30",
      [all("rest_client_requests_total", `${operator},code="200"`)]: "0+8x30",
    },
  },
};
