import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { traceFacts } from "#core/runtime/tracing/traceparent.ts";
import type { DeliveryResult, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

/** What becomes one line: requests to one endpoint that succeeded. */
type Summary = Record<"tenant" | "app" | "endpoint", string> & {
  requests: number;
  durationMs: { sum: number; most: number };
  mostQueuedMs: number;
};

/** Writes requests to endpoints to the log; never their payload. */
export type RequestLog = Part & {
  note: (
    endpoint: WebhookRow,
    delivery: WebhookDeliveryRow,
    made: { result: DeliveryResult; queuedMs: number },
  ) => void;
};

const everyMs = 10_000;

/**
 * Writes a line for each request that failed, and every 10 s one for each endpoint about those that succeeded: the history
 * has each of them, and to write a line costs a tenth of a delivery. With log level `debug` each has its line.
 */
export const requestLog = (log: Log): RequestLog => {
  const summaries = new Map<string, Summary>();
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    for (const { durationMs, ...summary } of summaries.values()) {
      const meanDurationMs = Math.round(durationMs.sum / summary.requests);
      log.info({ ...summary, meanDurationMs, mostDurationMs: durationMs.most }, "webhook.delivered");
    }
    summaries.clear();
  };
  const summaryOf = ({ _id: endpoint, app_id: app, tenant_id: tenant }: WebhookRow): Summary => {
    const known = summaries.get(endpoint);
    if (known !== undefined) return known;
    const made = { tenant, app, endpoint, requests: 0, durationMs: { sum: 0, most: 0 }, mostQueuedMs: 0 };
    summaries.set(endpoint, made);
    return made;
  };
  return {
    name: "webhook request log",
    start: async () => {
      timer = setInterval(flush, everyMs);
    },
    stop: async () => {
      clearInterval(timer);
      flush();
    },
    note: (endpoint, delivery, { result, queuedMs }) => {
      const level = result.status === "success" ? "debug" : "info";
      if (log.isLevelEnabled(level)) log[level](factsOf(endpoint, delivery, { result, queuedMs }), "webhook.attempted");
      if (result.status !== "success") return;
      const { duration_ms: durationMs } = result.made;
      const summary = summaryOf(endpoint);
      summary.requests++;
      summary.durationMs.sum += durationMs;
      summary.durationMs.most = Math.max(summary.durationMs.most, durationMs);
      summary.mostQueuedMs = Math.max(summary.mostQueuedMs, queuedMs);
    },
  };
};

const factsOf = (
  { _id: endpoint, app_id: app, tenant_id: tenant }: WebhookRow,
  { _id: delivery, event_id: eventId, event_type: kind, traces }: WebhookDeliveryRow,
  { result, queuedMs }: { result: DeliveryResult; queuedMs: number },
) => {
  const { made, status: outcome, attempt, due_at: nextAt } = result;
  const { error_class: errorClass, duration_ms: durationMs, response_status: status, error } = made;
  const of = { tenant, app, endpoint, delivery, eventId, kind, attempt, outcome };
  return { ...of, ...traceFacts(traces?.[0]), status, durationMs, queuedMs, errorClass, error, nextAt };
};
