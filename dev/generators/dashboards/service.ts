import { type Dashboard, graph, here, quantiles, rateBy, stat } from "./layout.ts";
import { objectives } from "./objectives.ts";

const accept = `${here}, route="/v1/notifications", method="POST"`;
const ours = `${here}, program=~"apiserver|dispatcher|operator"`;

/** How long the calls of a store took that it answered. */
const ofStore = (store: string) => quantiles(`herald_store_call_duration_seconds_bucket{${here}, store="${store}"}`);

export const service: Dashboard = {
  name: "service",
  title: "Service",
  description: "The REST interface, and what the three programs use",
  rows: [
    objectives,
    {
      title: "Accepting notifications",
      panels: [
        stat(
          "Answered, other than 5xx",
          "percentunit",
          "Share of the last hour's POST /v1/notifications; the objective is 99.9 %",
          `1 - (sum(rate(herald_http_requests_total{${accept}, status=~"5.."}[1h])) or vector(0)) / sum(rate(herald_http_requests_total{${accept}}[1h]))`,
        ),
        stat(
          "Accepted",
          "reqps",
          "Notifications accepted a second; repeats of one idempotency key count as replayed, not here",
          `sum(rate(herald_messages_accepted_total{${here}, outcome="created"}[$__rate_interval]))`,
        ),
        stat("In flight", "short", "Requests that are being answered", `sum(herald_http_requests_in_flight{${here}})`),
        stat(
          "Stores that answer",
          "percentunit",
          "Of each program's stores, those that answered within a second when last asked",
          `avg(herald_dependency_up{${here}})`,
        ),
        graph(
          "Time to accept",
          "s",
          "From the first byte of a request to the last of its reply; the promise is p99 < 0.1 s",
          quantiles(`herald_http_request_duration_seconds_bucket{${accept}}`),
        ),
        graph("Accepted by outcome", "reqps", "created: new; replayed: the idempotency key was known", [
          { expr: rateBy("outcome", `herald_messages_accepted_total{${here}}`), legend: "{{outcome}}" },
        ]),
        graph("Custom events", "reqps", "Events that apps report, by what became of them", [
          { expr: rateBy("outcome", `herald_custom_events_total{${here}}`), legend: "{{outcome}}" },
        ]),
        graph(
          "Custom events stored",
          "reqps",
          "stored: kept and counted; known: they came again, and had been counted",
          [{ expr: rateBy("outcome", `herald_stored_events_total{${here}}`), legend: "{{outcome}}" }],
        ),
        graph(
          "Time to store and count",
          "s",
          "From taking a batch of custom events to the last of its counts",
          quantiles(`herald_queue_handle_duration_seconds_bucket{${here}, consumer="custom-events"}`),
        ),
        graph("Conversions", "reqps", "Custom events that counted as conversions, by what led to them", [
          { expr: rateBy("attribution", `herald_conversions_total{${here}}`), legend: "{{attribution}}" },
        ]),
      ],
    },
    {
      title: "REST interface",
      panels: [
        graph("Requests by status", "reqps", "All routes; status 499 is a caller that left", [
          { expr: rateBy("status", `herald_http_requests_total{${here}}`), legend: "{{status}}" },
        ]),
        graph("Requests by route", "reqps", "The ten busiest routes; `none` matched no route", [
          {
            expr: `topk(10, ${rateBy("route, method", `herald_http_requests_total{${here}}`)})`,
            legend: "{{method}} {{route}}",
          },
        ]),
        graph("Rate limits", "reqps", "Token bucket decisions; `local` buckets mean that Redis is away", [
          {
            expr: rateBy("decision, bucket", `herald_rate_limit_decisions_total{${here}}`),
            legend: "{{decision}}, {{bucket}}",
          },
        ]),
      ],
    },
    {
      title: "Programs",
      panels: [
        graph("Stores that answer", "short", "1: every replica has had an answer within a second", [
          {
            expr: `min by (program, dependency) (herald_dependency_up{${here}})`,
            legend: "{{program}}: {{dependency}}",
          },
        ]),
        graph("Replicas", "short", "Processes that Prometheus scrapes", [
          { expr: `count by (program) (nodejs_version_info{${ours}})`, legend: "{{program}}" },
        ]),
        graph("Processor", "cores", "Cores that all replicas of a program use", [
          { expr: rateBy("program", `process_cpu_seconds_total{${ours}}`), legend: "{{program}}" },
        ]),
        graph("Memory", "bytes", "Resident memory of the largest replica", [
          { expr: `max by (program) (process_resident_memory_bytes{${ours}})`, legend: "{{program}}" },
        ]),
        graph("Event loop lag", "s", "p99 of the worst replica; above 0.1 s it is short of processor time", [
          { expr: `max by (program) (nodejs_eventloop_lag_p99_seconds{${ours}})`, legend: "{{program}}" },
        ]),
        graph("Open files", "short", "File descriptors of the busiest replica, connections among them", [
          { expr: `max by (program) (process_open_fds{${ours}})`, legend: "{{program}}" },
        ]),
      ],
    },
    {
      title: "Stores",
      panels: [
        graph("MongoDB", "s", "A command, from getting a connection to giving it back", ofStore("mongodb")),
        graph("JetStream", "s", "A publication, until it is acknowledged", ofStore("jetstream")),
        graph("Redis", "s", "A command of an apiserver; given up after 0.25 s", ofStore("redis")),
        graph("Files", "s", "One operation; a write is the whole file", ofStore("files")),
        graph("Calls", "reqps", "What each program asks of each store, as far as it was answered", [
          {
            expr: rateBy("program, store", `herald_store_call_duration_seconds_count{${here}}`),
            legend: "{{program}}: {{store}}",
          },
        ]),
      ],
    },
  ],
};
