import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { allDefinitions } from "../../channels/all.ts";
import type { OutcomeKind } from "../../domain/messages/outcome.ts";
import { sendableChannels } from "../../schema/vocabulary/channels.ts";
import { combinations, counterFromZero } from "./series.ts";
import { webhookMetrics } from "./webhooks.ts";

export type DispatcherMetrics = ReturnType<typeof dispatcherMetrics>;

/** Rate, errors and duration of planning, sending and webhooks. */
export const dispatcherMetrics = (registry: Registry) => ({
  ...deliveryMetrics(registry),
  ...jobMetrics(registry),
  ...webhookMetrics(registry),
});

const deliveryMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    deliveries: counterFromZero({
      name: "herald_deliveries_total",
      help: "recipients by channel, provider and outcome (sent, token_invalid, retry_at, config_error, payload_error, uncertain)",
      registry,
      series: allDefinitions.flatMap(({ name: channel, providers }) => [
        ...combinations({ channel: [channel], provider: providers, outcome: Object.keys(outcomes) }),
        { channel, provider: "none", outcome: "config_error" }, // of an app without an account that can be used
      ]),
    }),
    providerSeconds: new Histogram({
      name: "herald_provider_call_duration_seconds",
      help: "from handing a recipient to a provider to its outcome",
      labelNames: ["channel", "provider"] as const,
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30], // push services answer in 0.02-0.5 s, mail in seconds
      registers,
    }),
    chunkSeconds: new Histogram({
      name: "herald_chunk_duration_seconds",
      help: "from taking a chunk to the storing of its last delivery",
      labelNames: ["channel"] as const,
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120, 600], // 500 recipients at 5,000/s are 0.1 s
      registers,
    }),
    planSeconds: new Histogram({
      name: "herald_plan_turn_duration_seconds",
      help: "one turn of planning a message",
      buckets: [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10, 30], // a turn reads a few pages of 500
      registers,
    }),
    invalidationsHeld: counterFromZero({
      name: "herald_invalidations_held_total",
      help: "addresses that a provider called gone and that stay, because it said so of nearly all of an account",
      registry,
      series: combinations({ channel: sendableChannels }),
    }),
    messagesEnded: counterFromZero({
      name: "herald_messages_ended_total",
      help: "notifications by the status they ended with",
      registry,
      series: combinations({ status: ["completed", "failed"] }),
    }),
  };
};

const jobMetrics = (registry: Registry) => ({
  jobs: new Counter({
    name: "herald_jobs_total",
    help: "runs of jobs by type and result: done, again (more is due later), halted (it went on later: others' turn, a stop, a lost lease), failed",
    labelNames: ["job", "result"] as const,
    registers: [registry],
  }),
  jobItems: new Counter({
    name: "herald_job_items_total",
    help: "what jobs have worked through, such as documents removed or erased, by type of job",
    labelNames: ["job"] as const,
    registers: [registry],
  }),
});

const outcomes: Record<OutcomeKind, true> = {
  sent: true,
  token_invalid: true,
  retry_at: true,
  config_error: true,
  payload_error: true,
  uncertain: true,
};

/** What is read when it is asked for, rather than kept: it changes with every recipient. */
export type DispatcherLevels = {
  /** Recipients handed to a provider and not yet stored. */
  unsaved: () => number;
  /** The most that may be. */
  unsavedLimit: number;
  /** Accounts whose provider is cut off, by channel. */
  openBreakers: () => Record<string, number>;
};

/** Declares the gauges of a dispatcher that runs. */
export const watchLevels = (registry: Registry, levels: DispatcherLevels): void => {
  const unsaved: Gauge = new Gauge({
    name: "herald_unsaved_recipients",
    help: "recipients handed to a provider whose outcome is not stored yet; bounded by HERALD_DISPATCHER_UNSAVED_LIMIT",
    registers: [],
    collect: (): void => unsaved.set(levels.unsaved()),
  });
  const limit = new Gauge({
    name: "herald_unsaved_recipients_limit",
    help: "the most that herald_unsaved_recipients may be",
    registers: [],
  });
  limit.set(levels.unsavedLimit);
  const breakers = new Gauge({
    name: "herald_open_breakers",
    help: "accounts of an app and channel that are cut off because their provider fails, by channel",
    labelNames: ["channel"] as const,
    registers: [],
    collect: (): void => {
      for (const [channel, count] of Object.entries(levels.openBreakers())) breakers.set({ channel }, count);
    },
  });
  registry.registerMetric(unsaved);
  registry.registerMetric(limit);
  registry.registerMetric(breakers);
};
