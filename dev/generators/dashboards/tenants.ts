import { type Dashboard, graph, here, stat } from "./layout.ts";

const ofAll = (figure: string): string => `max(herald_usage_last_hour{${here}, figure="${figure}"})`;

/** A figure of each of the ten loudest tenants; metrics name no others. */
const ofLoudest = (figure: string) => [
  { expr: `max by (tenant, name) (herald_tenant_usage_last_hour{${here}, figure="${figure}"})`, legend: "{{name}}" },
];

export const tenants: Dashboard = {
  name: "tenants",
  title: "Tenants",
  description: "Which tenants make the traffic: the ten loudest, each with the sums of its last hour",
  rows: [
    {
      title: "All tenants",
      panels: [
        stat("Deliveries", "short", "Recipients with an outcome in the last hour", ofAll("deliveries")),
        stat("Requests", "short", "REST requests of the last hour, refused ones too", ofAll("requests")),
        stat("Requests to endpoints", "short", "Each attempt of the last hour", ofAll("webhook_requests")),
        stat("Webhook backlog", "short", "Deliveries to endpoints that wait", `max(herald_webhook_backlog{${here}})`),
      ],
    },
    {
      title: "The ten loudest",
      panels: [
        graph("Deliveries", "short", "Recipients with an outcome, suppressed ones left out", ofLoudest("deliveries")),
        graph("Requests", "short", "REST requests of the tenant's keys, refused ones too", ofLoudest("requests")),
        graph("Messages", "short", "Notifications accepted", ofLoudest("messages")),
        graph("Events", "short", "Events of the tenant's apps that were published", ofLoudest("events")),
        graph("Requests to endpoints", "short", "Each attempt", ofLoudest("webhook_requests")),
        graph("Bytes", "bytes", "Bodies of requests, and events sent to endpoints", ofLoudest("bytes")),
        graph("Webhook backlog", "short", "Deliveries to the tenant's endpoints that wait", [
          { expr: `max by (tenant, name) (herald_tenant_webhook_backlog{${here}})`, legend: "{{name}}" },
        ]),
        graph("Backlog of the others", "short", "Of each of the ten: what waits for the endpoints of all others", [
          { expr: `max by (tenant, name) (herald:others_webhook_backlog{${here}})`, legend: "{{name}}" },
        ]),
        graph(
          "Largest share",
          "percentunit",
          "Half of a figure for one tenant is an alert while others' backlog grows",
          [
            {
              expr: `max by (figure) (herald_tenant_usage_last_hour{${here}}) / on (figure) max by (figure) (herald_usage_last_hour{${here}})`,
              legend: "{{figure}}",
            },
          ],
        ),
      ],
    },
  ],
};
