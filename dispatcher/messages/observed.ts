import type { Clock } from "#core/domain/clock.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { traceFacts } from "#core/runtime/tracing/traceparent.ts";
import { inSpan, type Span, type Tracer } from "#core/runtime/tracing/tracer.ts";
import { inTrace } from "../work/in-trace.ts";
import { changesOf } from "./counts.ts";
import type { Deliver, Delivered, Work } from "./delivery/work.ts";
import { isFirstPart } from "./ranges.ts";

export type ObservedDeps = {
  metrics: Pick<DispatcherMetrics, "chunkSeconds" | "firstSentSeconds" | "invalidationsHeld">;
  tracer: Tracer;
  log: Log;
  clock: Clock;
};

/** One line, one measurement and, of a traced message, one span for each run of a chunk, or of a small message in its first turn. */
export const observed =
  (deps: ObservedDeps, run: Deliver): Deliver =>
  async (work, lease) => {
    const { tracer, clock, metrics } = deps;
    const { chunk, message } = work;
    const startedMs = clock.now().getTime();
    const span = tracer.child(`deliver ${chunk.channel}`, "internal", message.traceparent);
    const traceparent = span?.traceparent ?? message.traceparent;
    const spanned = span === null ? work : { ...work, message: inTrace(message, traceparent) };
    const delivered = await inSpan(span, () => run(spanned, lease), about(chunk));
    const nowMs = clock.now().getTime();
    metrics.chunkSeconds.observe({ channel: chunk.channel }, (nowMs - startedMs) / 1000, traceparent);
    metrics.invalidationsHeld.inc({ channel: chunk.channel }, delivered.doubted);
    if (isFirst(work, delivered)) {
      const dueMs = (message.scheduled_for ?? message.created_at).getTime();
      metrics.firstSentSeconds.observe({}, Math.max(0, nowMs - dueMs) / 1000, traceparent);
    }
    deps.log.info(
      { ...factsOf(work, delivered), ...traceFacts(traceparent), durationMs: nowMs - startedMs },
      "chunk.delivered",
    );
    return delivered;
  };

/** The first run of a message's first chunk; one that was put off or halted before has a later fence, and is left out. */
const isFirst = ({ chunk }: Work, { stored, halted }: Delivered): boolean =>
  chunk.position === 0 &&
  chunk.attempt === 0 &&
  chunk.fence === 1 &&
  (chunk.parent_id === null || isFirstPart(chunk)) &&
  !halted &&
  stored.length > 0;

const about =
  (chunk: Work["chunk"]) =>
  (span: Span, { stored, again, halted }: Delivered): void => {
    const sent = stored.filter(({ sent_at: at }) => at !== undefined).length;
    span.set({
      "herald.tenant": chunk.tenant_id,
      "herald.app": chunk.app_id,
      "herald.message": chunk.message_id,
      "herald.chunk": chunk._id,
      "herald.channel": chunk.channel,
      "herald.attempt": chunk.attempt,
      "messaging.batch.message_count": chunk.recipients.length,
      "herald.recipients.sent": sent,
      "herald.recipients.failed": stored.length - sent,
      "herald.recipients.again": again.length,
    });
    if (halted) span.fail("halted");
  };

const factsOf = ({ chunk }: Work, { stored, fresh, again, invalid, doubted, halted }: Delivered) => ({
  tenant: chunk.tenant_id,
  app: chunk.app_id,
  message: chunk.message_id,
  chunk: chunk._id,
  channel: chunk.channel,
  attempt: chunk.attempt,
  recipients: chunk.recipients.length,
  stored: stored.length,
  counts: changesOf(fresh),
  again: again.length,
  invalid: invalid.length,
  doubted,
  halted,
});
