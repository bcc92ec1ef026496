/** The parts of a W3C trace context, version 00. */
export type TraceContext = { traceId: string; spanId: string; isSampled: boolean };

/** Reads a `traceparent`; null for what is none. Source: W3C Trace Context 3.2 (version 00; all-zero ids are invalid). */
export const readTraceparent = (text: string | null | undefined): TraceContext | null => {
  const [, traceId, spanId, flags = ""] = wellFormed.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: isOdd(flags) };
};

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/** Whether a context of ours belongs to a trace that is recorded. */
export const isSampled = (traceparent: string | null | undefined): traceparent is string =>
  traceparent !== null && traceparent !== undefined && traceparent !== "" && isOdd(traceparent.slice(flagsAt));

/**
 * What a line of the log says of a trace; nothing without one. The names are those by which log pipelines join lines and
 * traces. Source: OpenTelemetry specification, "Trace Context in non-OTLP Log Formats".
 */
export const traceFacts = (traceparent: string | null | undefined): TraceFacts =>
  traceparent ? { trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) } : {};

export type TraceFacts = { trace_id?: string; span_id?: string };

const wellFormed = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const flagsAt = 53;

/** The lowest bit of the flags says that the trace is recorded. */
const isOdd = (hex: string): boolean => Number.parseInt(hex, 16) % 2 === 1;
