import { Type } from "typebox";
import { closed, flag, kubernetesList, strings, text } from "./shapes.ts";

const duration = (description: string) => text(description, { pattern: "^[0-9]+(ms|s|m|h)$" });

const share = (description: string) => Type.Number({ description, minimum: 0.00001, maximum: 0.06 }); // 14.4 times it is a share, too

const scraping = (description: string) =>
  closed(description, {
    enabled: flag("whether there is one"),
    labels: strings("labels by which your Prometheus finds it"),
    interval: duration("time between scrapes"),
    scrapeTimeout: duration("how long a scrape may take; at least 2s, for stores that do not answer"),
    relabelings: kubernetesList("changes of targets' labels before a scrape"),
    metricRelabelings: kubernetesList("changes of metrics' labels after a scrape"),
  });

/** Values of the ServiceMonitor or PodMonitor, the PrometheusRule and the dashboards. */
export const monitoringValues = closed("Prometheus and Grafana", {
  serviceMonitor: scraping("scraping of the three programs by their Services; needs the Prometheus operator's kinds"),
  podMonitor: scraping("the same by their pods, instead of a ServiceMonitor"),
  prometheusRule: closed("the alerts of alerts/; needs the Prometheus operator's kinds", {
    enabled: flag("whether there is one"),
    labels: strings("labels by which your Prometheus finds it"),
    runbookUrl: text("address of docs/runbooks.md as your people reach it", { minLength: 1 }),
    budgets: closed("objectives: the share of 30 days that may fail", {
      apiErrors: share("requests to the REST interface that are answered 5xx"),
      acceptErrors: share("requests for a notification that are answered 5xx"),
      apiSlow: share("requests that take more than a second, transfers of files apart"),
      deliveryErrors: share("recipients whose provider puts them off or leaves open what became of them"),
      sentLate: share("messages that are sent later than 5 s after they were due"),
      webhooksLate: share("deliveries of webhooks that wait longer than 5 s for their first request"),
    }),
  }),
  dashboards: closed("the dashboards of dashboards/ as ConfigMaps for Grafana's sidecar", {
    enabled: flag("whether there are any"),
    labels: strings("labels by which the sidecar finds them"),
    annotations: strings("annotations, e.g. the sidecar's folder"),
  }),
});
