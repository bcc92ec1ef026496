import { closed, flag, kubernetesList, strings, text } from "./shapes.ts";

const duration = (description: string) => text(description, { pattern: "^[0-9]+(ms|s|m|h)$" });

/** Values of the ServiceMonitor, the PrometheusRule and the dashboards. */
export const monitoringValues = closed("Prometheus and Grafana", {
  serviceMonitor: closed("scraping of the three programs; needs the Prometheus operator's kinds", {
    enabled: flag("whether there is one"),
    labels: strings("labels by which your Prometheus finds it"),
    interval: duration("time between scrapes"),
    scrapeTimeout: duration("how long a scrape may take; at least 2s, for stores that do not answer"),
    relabelings: kubernetesList("changes of targets' labels before a scrape"),
    metricRelabelings: kubernetesList("changes of metrics' labels after a scrape"),
  }),
  prometheusRule: closed("the alerts of alerts/; needs the Prometheus operator's kinds", {
    enabled: flag("whether there is one"),
    labels: strings("labels by which your Prometheus finds it"),
    runbookUrl: text("address of docs/runbooks.md as your people reach it", { minLength: 1 }),
  }),
  dashboards: closed("the dashboards of dashboards/ as ConfigMaps for Grafana's sidecar", {
    enabled: flag("whether there are any"),
    labels: strings("labels by which the sidecar finds them"),
    annotations: strings("annotations, e.g. the sidecar's folder"),
  }),
});
