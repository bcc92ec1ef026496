import type { TraceMetrics } from "../metrics/traces.ts";
import type { Part } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { readHeaders } from "./headers.ts";
import type { OtlpOptions, OtlpTracer } from "./otlp.ts";
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

/**
 * A program's tracer, and the parts that it runs for it: none when no receiver is named, and then no code of the SDK is
 * loaded. It records from the start of its part on, which comes before any work.
 */
export const openTracer = ({ settings, resource, metrics, log }: TracingDeps): Opened => {
  const { otlpEndpoint, otlpHeaders, otlpTimeoutSeconds, traceQueue } = settings;
  if (otlpEndpoint === undefined) return { tracer: noTracer, isOn: false, parts: [] };
  const options: OtlpOptions = {
    url: `${otlpEndpoint.replace(/\/$/, "")}/v1/traces`, // OTLP 1.5, "OTLP/HTTP Request": the default path
    headers: readHeaders(otlpHeaders ?? ""),
    resource,
    most: traceQueue,
    timeoutMs: otlpTimeoutSeconds * 1000,
    count: (outcome, spans) => metrics.spans.inc({ outcome }, spans),
    onChange: (err) => (err === null ? log.info("traces.exported") : log.warn({ err }, "traces.not_exported")),
  };
  let opened: OtlpTracer | null = null;
  const start = async (): Promise<void> => {
    const { otlpTracer } = await import("./otlp.ts");
    opened = otlpTracer(options);
  };
  const tracer: Tracer = {
    child: (...given) => opened?.child(...given) ?? null,
    begin: (...given) => opened?.begin(...given) ?? null,
  };
  return { tracer, isOn: true, parts: [{ name: "traces", start, stop: (signal) => flushed(opened, signal) }] };
};

type Opened = { tracer: Tracer; isOn: boolean; parts: Part[] };

const flushMs = 3_000; // what a program waits at its end for a receiver that does not answer

const flushed = async (tracer: Pick<OtlpTracer, "flush"> | null, signal: AbortSignal): Promise<void> => {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  AbortSignal.any([signal, AbortSignal.timeout(flushMs)]).addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([tracer?.flush(), late]);
};
