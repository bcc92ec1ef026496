import type { TraceMetrics } from "../metrics/traces.ts";
import type { Part } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { readHeaders } from "./headers.ts";
import { noTracer, type Tracer } from "./tracer.ts";

/** The settings of `TracingConfig` (config/tracing.ts). */
export type TracingSettings = {
  otlpEndpoint?: string | undefined;
  otlpHeaders?: string | undefined;
  otlpTimeoutSeconds: number;
  traceQueue: number;
};

export type TracingDeps = {
  settings: TracingSettings;
  /** What the spans are of. */
  resource: Record<string, string>;
  metrics: TraceMetrics;
  log: Log;
};

/** A program's tracer, and the parts that it runs for it: none when no receiver is named, and then no code of the SDK is loaded. */
export const openTracer = async ({ settings, resource, metrics, log }: TracingDeps): Promise<Opened> => {
  const { otlpEndpoint, otlpHeaders, otlpTimeoutSeconds, traceQueue } = settings;
  if (otlpEndpoint === undefined) return { tracer: noTracer, isOn: false, parts: [] };
  const { otlpTracer } = await import("./otlp.ts");
  const tracer = otlpTracer({
    url: `${otlpEndpoint.replace(/\/$/, "")}/v1/traces`, // OTLP 1.5, "OTLP/HTTP Request": the default path
    headers: readHeaders(otlpHeaders ?? ""),
    resource,
    most: traceQueue,
    timeoutMs: otlpTimeoutSeconds * 1000,
    count: (outcome, spans) => metrics.spans.inc({ outcome }, spans),
    onChange: (err) => (err === null ? log.info("traces.exported") : log.warn({ err }, "traces.not_exported")),
  });
  return { tracer, isOn: true, parts: [flushing(tracer)] };
};

type Opened = { tracer: Tracer; isOn: boolean; parts: Part[] };

const flushMs = 3_000; // what a program waits at its end for a receiver that does not answer

const flushing = ({ flush }: { flush: () => Promise<void> }): Part => ({
  name: "traces",
  start: async () => undefined,
  stop: async (signal) => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    AbortSignal.any([signal, AbortSignal.timeout(flushMs)]).addEventListener("abort", () => resolve(), { once: true });
    await Promise.race([flush(), late]);
  },
});
