import type { GeneratedFile } from "../generated-file.ts";
import { appDashboard } from "./app.ts";
import { delivery } from "./delivery.ts";
import { grafana } from "./layout.ts";
import { operator } from "./operator.ts";
import { service } from "./service.ts";
import { tenants } from "./tenants.ts";
import { webhooks } from "./webhooks.ts";

/** The Grafana dashboards of the chart. */
export const dashboards = (): GeneratedFile[] => [
  ...[service, delivery, webhooks, tenants, operator].map((dashboard) => ({
    path: `charts/herald/dashboards/${dashboard.name}.json`,
    text: `${JSON.stringify(grafana(dashboard), null, 2)}\n`,
  })),
  appDashboard(),
];
