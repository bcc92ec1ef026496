import { randomFillSync } from "node:crypto";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { readTraceparent, type TraceContext, writeTraceparent } from "#core/runtime/tracing/traceparent.ts";
import type { Span, Tracer } from "#core/runtime/tracing/tracer.ts";
import { localBuckets } from "../limits/rate.ts";

/** How a request is traced: the context that what it causes is handed, and its span when it is recorded. */
export type RequestTrace = { traceparent: string; span: Span | null };

export type RequestTraces = {
  /** When a request has come, of which only its headers are known; `given` is its `traceparent`, or nothing. */
  begin: (given: string) => RequestTrace;
  /**
   * When its caller is known, whose wish to have it traced counts from then on, as far as their tenant's rate goes. Null
   * changes nothing.
   */
  ofCaller: (given: string, of: { tenantId: string; startedAt: number }) => RequestTrace | null;
};

export type RequestTracesDeps = {
  tracer: Tracer;
  /** Whether spans are sent anywhere. */
  isOn: boolean;
  /** Share of the requests that are traced whose caller says nothing of it. */
  ratio: number;
  /** Requests a second of one tenant that are traced as their caller says so. */
  callersPerSecond: number;
  random: Random;
  clock: Clock;
};

const mostTenants = 10_000;

/**
 * Decides which requests are traced: those that a known caller traces, within bounds; none that a caller does not trace; and a
 * share of the others, which are also those of callers that are not known (docs/reference/tracing.md#sampling).
 */
export const requestTraces = (deps: RequestTracesDeps): RequestTraces => {
  const { isOn, tracer, ratio, callersPerSecond, random, clock } = deps;
  if (!isOn) return { begin: (given) => unrecorded(readTraceparent(given)), ofCaller: () => null };
  const rates = localBuckets({ max: mostTenants, clock });
  const rate = { capacity: Math.max(1, callersPerSecond), perSecond: callersPerSecond };
  const record = (caller: TraceContext | null, startedAt?: number): RequestTrace | null => {
    const parent = caller === null ? null : writeTraceparent(caller);
    const span = tracer.begin("HTTP", "server", { parent, ...(startedAt !== undefined && { startedAt }) });
    return span && { traceparent: span.traceparent, span };
  };
  return {
    begin: (given) => {
      const caller = readTraceparent(given);
      const isDrawn = (caller === null || caller.isSampled) && random() < ratio;
      return (isDrawn ? record(caller) : null) ?? unrecorded(caller && { ...caller, isSampled: false });
    },
    ofCaller: (given, { tenantId, startedAt }) => {
      const caller = readTraceparent(given);
      if (caller?.isSampled !== true || callersPerSecond === 0) return null;
      return rates.take(tenantId, rate).isAllowed ? record(caller, startedAt) : null;
    },
  };
};

/** The caller's trace with a new span of ours, or a new trace. */
const unrecorded = (caller: TraceContext | null): RequestTrace => ({
  traceparent: writeTraceparent({
    traceId: caller?.traceId ?? randomHex(16),
    spanId: randomHex(8),
    isSampled: caller?.isSampled ?? false,
  }),
  span: null,
});

const stock = Buffer.alloc(4_096); // random bytes in stock: each call for some takes longer than all else here
let used = stock.length;

const randomHex = (bytes: number): string => {
  if (used + bytes > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.toString("hex", used - bytes, used);
};
