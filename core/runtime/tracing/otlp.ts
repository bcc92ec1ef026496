import {
  type Context,
  SpanKind as Kind,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import { type ExportQueueDeps, exportQueue } from "./export-queue.ts";
import { isSampled, readTraceparent, writeTraceparent } from "./traceparent.ts";
import type { Span, SpanKind, Tracer } from "./tracer.ts";

export type OtlpOptions = Omit<ExportQueueDeps, "exporter"> & {
  /** Where spans are posted to, with its path. */
  url: string;
  headers: Record<string, string>;
  /** What the spans are of: `service.name` and the like. */
  resource: Record<string, string>;
};

/** A tracer whose spans go to an OTLP receiver, as protobuf over HTTP; `flush` resolves when none waits any more. */
export const otlpTracer = ({ url, headers, resource, ...queue }: OtlpOptions): OtlpTracer => {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: queue.timeoutMs, concurrencyLimit: 1 });
  const spans = exportQueue({ ...queue, exporter });
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(), // what is not sampled never gets here
    spanProcessors: [spans],
    resource: resourceFromAttributes(resource),
    spanLimits: { linkCountLimit: 32, attributeValueLengthLimit: 256 },
  });
  const sdk = provider.getTracer("herald");
  const begin: Tracer["begin"] = (name, kind, { parent, startedAt, links = [] }) =>
    spanOf(
      sdk.startSpan(
        name,
        { kind: kinds[kind], links: linksTo(links), ...(startedAt !== undefined && { startTime: startedAt }) },
        contextOf(parent),
      ),
    );
  return {
    begin,
    child: (name, kind, parent, links) =>
      isSampled(parent) ? begin(name, kind, { parent, ...(links !== undefined && { links }) }) : null,
    flush: () => spans.forceFlush(),
    close: () => exporter.shutdown(),
  };
};

export type OtlpTracer = Tracer & { flush: () => Promise<void>; close: () => Promise<void> };

const kinds: Record<SpanKind, Kind> = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  internal: Kind.INTERNAL,
};

const spanOf = (span: SdkSpan): Span => {
  const { traceId, spanId } = span.spanContext();
  return {
    traceparent: writeTraceparent({ traceId, spanId, isSampled: true }),
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    fail: (type) => void span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", type),
    end: () => span.end(),
  };
};

const contextOf = (traceparent: string | null): Context => {
  const parent = spanContextOf(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
};

const linksTo = (contexts: readonly string[]) =>
  contexts.flatMap((traceparent) => {
    const context = spanContextOf(traceparent);
    return context === null ? [] : [{ context }];
  });

const spanContextOf = (traceparent: string | null) => {
  const read = readTraceparent(traceparent);
  if (read === null) return null;
  const { traceId, spanId, isSampled } = read;
  return { traceId, spanId, isRemote: true, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
};
