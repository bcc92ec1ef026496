import { type Dashboard, graph, here, quantileBy, quantiles, rateBy, stat } from "./layout.ts";

export const delivery: Dashboard = {
  name: "delivery",
  title: "Delivery",
  description: "Planning and sending: recipients, providers, queues and timers",
  rows: [
    {
      title: "Recipients",
      panels: [
        stat(
          "Sent",
          "ops",
          "Recipients that a provider took, a second",
          `sum(rate(herald_deliveries_total{${here}, outcome="sent"}[$__rate_interval]))`,
        ),
        stat(
          "Final answer at once",
          "percentunit",
          "Share of the last hour's recipients that were neither put off nor left uncertain; the objective is 99 %",
          `1 - (sum(rate(herald_deliveries_total{${here}, outcome=~"retry_at|uncertain"}[1h])) or vector(0)) / sum(rate(herald_deliveries_total{${here}}[1h]))`,
        ),
        stat(
          "Hints that wait",
          "short",
          "In all work queues of JetStream, taken and not yet taken",
          `sum(max by (stream, consumer) (herald_consumer_pending{${here}}))`,
        ),
        stat(
          "Open breakers",
          "short",
          "Accounts of a channel that fail every time and are left alone for a while",
          `sum(herald_open_breakers{${here}}) or vector(0)`,
        ),
        graph("Recipients by outcome", "ops", "What providers answered", [
          { expr: rateBy("outcome", `herald_deliveries_total{${here}}`), legend: "{{outcome}}" },
        ]),
        graph("Recipients by channel", "ops", "Recipients handed to providers", [
          {
            expr: rateBy("channel, provider", `herald_deliveries_total{${here}}`),
            legend: "{{channel}}, {{provider}}",
          },
        ]),
        graph("Connection tests", "short", "Tests of apps' accounts in an hour", [
          {
            expr: `sum by (channel, result) (increase(herald_account_checks_total{${here}}[1h]))`,
            legend: "{{channel}}, {{result}}",
          },
        ]),
        graph("Messages ended", "ops", "Notifications by the status they ended with", [
          { expr: rateBy("status", `herald_messages_ended_total{${here}}`), legend: "{{status}}" },
        ]),
        graph("Provider calls, p99", "s", "From handing a recipient to a provider to its outcome", [
          {
            expr: quantileBy(0.99, "provider", `herald_provider_call_duration_seconds_bucket{${here}}`),
            legend: "{{provider}}",
          },
        ]),
        graph(
          "Chunks",
          "s",
          "From taking a chunk of at most 500 recipients to the storing of its last delivery",
          quantiles(`herald_chunk_duration_seconds_bucket{${here}}`),
        ),
        graph(
          "Planning",
          "s",
          "One turn of planning a message",
          quantiles(`herald_plan_turn_duration_seconds_bucket{${here}}`),
        ),
        graph("Callbacks", "ops", "Of providers, by what became of them", [
          { expr: rateBy("provider, outcome", `herald_callbacks_total{${here}}`), legend: "{{provider}}, {{outcome}}" },
        ]),
        graph("Receipts", "ops", "What was read in callbacks, by provider and kind", [
          { expr: rateBy("provider, kind", `herald_callback_items_total{${here}}`), legend: "{{provider}}, {{kind}}" },
        ]),
        graph("Conversations that wait", "short", "In which somebody wrote and nobody has answered", [
          { expr: `max(herald_conversations_waiting{${here}})`, legend: "waiting" },
        ]),
        graph(
          "Messages of people and replies",
          "ops",
          "Messages of people by provider, and what they are answered by channel",
          [
            {
              expr: rateBy("provider", `herald_callback_items_total{${here}, kind="inbound"}`),
              legend: "from {{provider}}",
            },
            { expr: rateBy("channel", `herald_conversation_replies_total{${here}}`), legend: "to {{channel}}" },
          ],
        ),
        graph("Receipts given up", "ops", "Their delivery was not stored within a quarter of an hour", [
          { expr: rateBy("pod", `herald_receipts_unmatched_total{${here}}`), legend: "{{pod}}" },
        ]),
        graph(
          "Unsaved recipients",
          "short",
          "Handed to a provider, outcome not stored; so many at most are sent to twice after a kill",
          [
            { expr: `max by (pod) (herald_unsaved_recipients{${here}})`, legend: "{{pod}}" },
            { expr: `max(herald_unsaved_recipients_limit{${here}})`, legend: "limit of each" },
          ],
        ),
      ],
    },
    {
      title: "Queues and timers",
      panels: [
        graph("Waiting", "short", "Hints that are not handled yet, by consumer", [
          {
            expr: `sum by (consumer) (max by (stream, consumer) (herald_consumer_pending{${here}}))`,
            legend: "{{consumer}}",
          },
        ]),
        graph("Handled", "ops", "Hints by consumer and how they were settled", [
          {
            expr: rateBy("consumer, settlement", `herald_queue_messages_total{${here}}`),
            legend: "{{consumer}}, {{settlement}}",
          },
        ]),
        graph("Time to handle, p99", "s", "From the start of a hint's handler to its settlement", [
          {
            expr: quantileBy(0.99, "consumer", `herald_queue_handle_duration_seconds_bucket{${here}}`),
            legend: "{{consumer}}",
          },
        ]),
        graph("Redelivered", "ops", "Hints that came a second time or later", [
          { expr: rateBy("consumer", `herald_queue_redeliveries_total{${here}}`), legend: "{{consumer}}" },
        ]),
        graph("Handlers", "short", "Handlers that are running", [
          { expr: `sum by (consumer) (herald_queue_in_flight{${here}})`, legend: "{{consumer}}" },
        ]),
        graph("Streams' fill", "percentunit", "Bytes in a stream, of those that it may hold", [
          {
            expr: `max by (stream) (herald_stream_bytes{${here}}) / max by (stream) (herald_stream_bytes_limit{${here}})`,
            legend: "{{stream}}",
          },
        ]),
        graph("Timers' lag, p99", "s", "From a due time to its handling; the promise is 1.5 s", [
          { expr: quantileBy(0.99, "source", `herald_timers_lag_seconds_bucket{${here}}`), legend: "{{source}}" },
        ]),
        graph("Timers handled", "ops", "Documents whose time had come", [
          { expr: rateBy("source", `herald_timers_handled_total{${here}}`), legend: "{{source}}" },
        ]),
        graph("Set aside", "ops", "Single documents and hints that failed although the stores answered", [
          { expr: rateBy("source", `herald_set_aside_total{${here}}`), legend: "{{source}}" },
        ]),
        graph(
          "Outboxes",
          "ops",
          "Events by what became of their publication; `kept` ones are published again within 10 s",
          [
            {
              expr: rateBy("program, outcome", `herald_outbox_events_total{${here}}`),
              legend: "{{program}}, {{outcome}}",
            },
          ],
        ),
        graph(
          "Events that wait in MongoDB",
          "bytes",
          "Of all organisations; JetStream has no room for them or is away. More than its plan's bound of one: 429",
          [{ expr: `max(herald_waiting_event_bytes{${here}})`, legend: "waiting" }],
        ),
      ],
    },
    {
      title: "Jobs: exports, imports, removals",
      panels: [
        graph("Runs", "ops", "Runs of jobs by type and what they came to", [
          { expr: rateBy("type, result", `herald_jobs_total{${here}}`), legend: "{{type}}, {{result}}" },
        ]),
        graph("Items", "ops", "What jobs work through: rows of files, documents that are removed or erased", [
          { expr: rateBy("type", `herald_job_items_total{${here}}`), legend: "{{type}}" },
        ]),
        graph("Bytes", "bytes", "Of the files that jobs write or read, in a minute", [
          { expr: `sum by (type) (increase(herald_job_bytes_total{${here}}[1m]))`, legend: "{{type}}" },
        ]),
        graph("Imported rows", "ops", "Rows of imported files by what became of them", [
          { expr: rateBy("result", `herald_import_rows_total{${here}}`), legend: "{{result}}" },
        ]),
        graph("Time of a run, p95", "s", "From taking a job to giving it back", [
          { expr: quantileBy(0.95, "type", `herald_job_run_duration_seconds_bucket{${here}}`), legend: "{{type}}" },
        ]),
        graph(
          "Warehouse exports",
          "ops",
          "Attempts of runs: completed, partial (without some datasets), cancelled, retried and failed at their store",
          [{ expr: rateBy("result", `herald_warehouse_attempts_total{${here}}`), legend: "{{result}}" }],
        ),
      ],
    },
  ],
};
