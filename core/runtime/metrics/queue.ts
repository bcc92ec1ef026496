import type { Registry } from "prom-client";
import { combinations, metricsIn } from "./series.ts";

export type QueueMetrics = ReturnType<typeof queueMetrics>;

/** What every program measures of hints, timers and outboxes. */
export const queueMetrics = (registry: Registry) => {
  const { counter, counterFromZero, gauge, tracedHistogram } = metricsIn(registry);
  return {
    messages: counter(
      "herald_queue_messages_total",
      "JetStream messages by stream, consumer and how they were settled (done, retry, drop, failed)",
      ["stream", "consumer", "settlement"],
    ),
    handleSeconds: tracedHistogram(
      "herald_queue_handle_duration_seconds",
      "from the start of a message's handler to its settlement",
      [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300], // a batch of events takes ms; a chunk to a slow provider minutes
      ["consumer"],
    ),
    inFlight: gauge("herald_queue_in_flight", "handlers that are running", ["consumer"]),
    redeliveries: counter("herald_queue_redeliveries_total", "messages that came a second time or later", ["consumer"]),
    timersHandled: counter("herald_timers_handled_total", "documents that were handled when their time had come", [
      "source",
    ]),
    timerLagSeconds: tracedHistogram(
      "herald_timers_lag_seconds",
      "from a document's due time to its handling",
      [0.1, 0.25, 0.5, 0.75, 1, 1.5, 3, 10, 60], // the promise is p99 <= 1.5 s, the loop's step 0.5 s
      ["source"],
    ),
    setAside: counter(
      "herald_set_aside_total",
      "times that one thing of many failed although the stores answered, and the others went on: a document of a timer, an endpoint, a plan's retention, or a hint that fails for the fifth time or more",
      ["source"],
    ),
    outboxEvents: counterFromZero(
      "herald_outbox_events_total",
      "events of outboxes by what became of their publication (published, kept)",
      combinations({ outcome: ["published", "kept"] }),
    ),
  };
};

/** Counts what is set aside of one source; from 0, because a counter that begins with its first failure shows no increase. */
export const countAside = (
  { setAside }: Pick<QueueMetrics, "setAside">,
  source: string,
): ((times?: number) => void) => {
  setAside.inc({ source }, 0);
  return (times = 1) => setAside.inc({ source }, times);
};
