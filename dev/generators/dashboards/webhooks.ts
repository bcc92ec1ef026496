import { type Dashboard, graph, here, quantiles, rateBy, stat } from "./layout.ts";

export const webhooks: Dashboard = {
  name: "webhooks",
  title: "Webhooks",
  description: "Requests to the endpoints of apps",
  rows: [
    {
      title: "Requests",
      panels: [
        stat(
          "Requests",
          "reqps",
          "Requests to endpoints, a second",
          `sum(rate(herald_webhook_attempts_total{${here}}[$__rate_interval]))`,
        ),
        stat(
          "Success",
          "percentunit",
          "Share of the last hour's requests that were answered 2xx; falls over all endpoints when the fault is ours",
          `(sum(rate(herald_webhook_attempts_total{${here}, outcome="success"}[1h])) or vector(0)) / sum(rate(herald_webhook_attempts_total{${here}}[1h]))`,
        ),
        stat(
          "In flight",
          "short",
          "Requests that have begun and not ended",
          `sum(herald_webhook_requests_in_flight{${here}})`,
        ),
        stat(
          "Failing endpoints",
          "short",
          "Endpoints whose requests fail again and again",
          `max(herald_webhook_endpoints{${here}, state="failing"})`,
        ),
        graph("Requests by outcome", "reqps", "failed ones are tried again, dead ones no more", [
          { expr: rateBy("outcome", `herald_webhook_attempts_total{${here}}`), legend: "{{outcome}}" },
        ]),
        graph(
          "Failures by class",
          "reqps",
          "dns, connect, tls and configuration are ours rather than the endpoint's when they are many",
          [
            {
              expr: rateBy("error_class", `herald_webhook_attempts_total{${here}, outcome!="success"}`),
              legend: "{{error_class}}",
            },
          ],
        ),
        graph(
          "Duration",
          "s",
          "From resolving an endpoint's name to the last byte read of its reply",
          quantiles(`herald_webhook_attempt_duration_seconds_bucket{${here}}`),
        ),
        graph(
          "Age at the first request",
          "s",
          "p50 above 1 s: too few dispatchers or a slow store; p99 alone is of slow or paused endpoints",
          quantiles(`herald_webhook_queue_seconds_bucket{${here}}`),
        ),
      ],
    },
    {
      title: "Endpoints",
      panels: [
        graph("Endpoints by state", "short", "As the one dispatcher tells that checks their health", [
          { expr: `max by (state) (herald_webhook_endpoints{${here}})`, legend: "{{state}}" },
        ]),
        graph("Endpoint queues", "short", "Endpoints for which each dispatcher has something to do; at most 1,000", [
          { expr: `max by (pod) (herald_webhook_endpoint_queues{${here}})`, legend: "{{pod}}" },
        ]),
        graph("Partitions", "short", "Partitions of the events that each dispatcher owns, of 16", [
          { expr: `max by (pod) (herald_webhook_partitions{${here}})`, legend: "{{pod}}" },
        ]),
        graph(
          "Left to the store",
          "ops",
          "Endpoints not served by who read the events, as while an owner is replaced",
          [
            {
              expr: `sum(rate(herald_webhook_fallbacks_total{${here}}[$__rate_interval]))`,
              legend: "left to the store",
            },
          ],
        ),
        graph("In flight", "short", "Requests that each dispatcher has under way", [
          { expr: `max by (pod) (herald_webhook_requests_in_flight{${here}})`, legend: "{{pod}}" },
        ]),
      ],
    },
  ],
};
