import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { combinations, counterFromZero } from "./series.ts";

export type QueueMetrics = ReturnType<typeof queueMetrics>;

/** What every program measures of hints, timers and outboxes. */
export const queueMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    messages: new Counter({
      name: "herald_queue_messages_total",
      help: "JetStream messages by stream, consumer and how they were settled (done, retry, drop, failed)",
      labelNames: ["stream", "consumer", "settlement"] as const,
      registers,
    }),
    handleSeconds: new Histogram({
      name: "herald_queue_handle_duration_seconds",
      help: "from the start of a message's handler to its settlement",
      labelNames: ["consumer"] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300], // a batch of events takes ms; a chunk to a slow provider minutes
      registers,
    }),
    inFlight: new Gauge({
      name: "herald_queue_in_flight",
      help: "handlers that are running",
      labelNames: ["consumer"] as const,
      registers,
    }),
    redeliveries: new Counter({
      name: "herald_queue_redeliveries_total",
      help: "messages that came a second time or later",
      labelNames: ["consumer"] as const,
      registers,
    }),
    timersHandled: new Counter({
      name: "herald_timers_rung_total",
      help: "documents that were handled when their time had come",
      labelNames: ["source"] as const,
      registers,
    }),
    timerLagSeconds: new Histogram({
      name: "herald_timers_lag_seconds",
      help: "from a document's due time to its handling",
      labelNames: ["source"] as const,
      buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 3, 10, 60], // the promise is p99 <= 1.5 s, the loop's step 0.5 s
      registers,
    }),
    setAside: new Counter({
      name: "herald_set_aside_total",
      help: "times that one thing of many failed although the stores answered, and the others went on: a document of a timer, an endpoint, a plan's retention, or a hint that fails for the fifth time or more",
      labelNames: ["source"] as const,
      registers,
    }),
    outboxEvents: counterFromZero({
      name: "herald_outbox_events_total",
      help: "events of outboxes by what became of their publication (published, kept)",
      registry,
      series: combinations({ outcome: ["published", "kept"] }),
    }),
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
