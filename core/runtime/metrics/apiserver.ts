import { Gauge, Histogram, type Registry } from "prom-client";
import { combinations, counterFromZero } from "./series.ts";

export type ApiserverMetrics = ReturnType<typeof apiserverMetrics>;

/** Rate, errors and duration of the REST interface. `route` is the route's pattern, `none` when nothing matched. */
export const apiserverMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    requests: counterFromZero({
      name: "herald_http_requests_total",
      help: "requests by route, method and status",
      registry,
      series: combinations({
        route: ["/v1/notifications"], // of which the objective is
        method: ["POST"],
        status: ["202", "500", "503", "504"],
      }),
    }),
    requestSeconds: new Histogram({
      name: "herald_http_request_duration_seconds",
      help: "from the first byte of a request to the last of its reply",
      labelNames: ["route", "method"] as const,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10], // the promise for accepting is p99 < 0.1 s
      registers,
    }),
    requestsInFlight: new Gauge({
      name: "herald_http_requests_in_flight",
      help: "requests that are being answered",
      registers,
    }),
    accepted: counterFromZero({
      name: "herald_messages_accepted_total",
      help: "notifications by how they were accepted (created, replayed)",
      registry,
      series: combinations({ outcome: ["created", "replayed"] }),
    }),
    customEvents: counterFromZero({
      name: "herald_custom_events_total",
      help: "custom events by what became of them (accepted, duplicate, refused for their time)",
      registry,
      series: combinations({ outcome: ["accepted", "duplicate", "refused"] }),
    }),
    rateDecisions: counterFromZero({
      name: "herald_rate_limit_decisions_total",
      help: "token bucket decisions (allowed, limited) by where the bucket was (redis, local when Redis is away)",
      registry,
      series: combinations({ decision: ["allowed", "limited"], bucket: ["redis", "local"] }),
    }),
  };
};
