/** What a span does, as OpenTelemetry has it: answers a request, makes one, sends a message, handles one, or none of these. */
export type SpanKind = "server" | "client" | "producer" | "consumer" | "internal";

/**
 * All that a span may say: templates, ids of ours, counts and closed words. No path, address, header, token or body has a
 * name here, so that none can get into a trace (docs/reference/tracing.md#attributes). Names without `herald.` are those
 * of OpenTelemetry's semantic conventions 1.45.
 */
export type Attributes = {
  "http.request.method"?: string;
  "http.route"?: string;
  "http.response.status_code"?: number;
  "messaging.system"?: "nats";
  "messaging.operation.type"?: "send" | "process";
  "messaging.operation.name"?: "publish" | "process";
  "messaging.destination.template"?: string;
  "messaging.consumer.group.name"?: string;
  "messaging.message.body.size"?: number;
  "messaging.batch.message_count"?: number;
  "herald.tenant"?: string;
  "herald.app"?: string;
  "herald.message"?: string;
  "herald.chunk"?: string;
  "herald.endpoint"?: string;
  "herald.delivery"?: string;
  "herald.event_type"?: string;
  "herald.channel"?: string;
  "herald.provider"?: string;
  "herald.outcome"?: string;
  "herald.attempt"?: number;
  "herald.recipients.sent"?: number;
  "herald.recipients.failed"?: number;
  "herald.recipients.again"?: number;
};

/** A step of a trace that is recorded. */
export type Span = {
  /** The context that what it causes is handed. */
  traceparent: string;
  /** Names it anew, once what it is about is known. */
  rename: (name: string) => void;
  set: (attributes: Attributes) => void;
  /** Says that it failed; `type` is one word of a closed list, never an error's text. */
  fail: (type: string) => void;
  /** Once, and last. */
  end: () => void;
};

/** Where a span begins. */
export type SpanBegin = {
  /** The context that caused it; null begins a trace. */
  parent: string | null;
  /** When it began, as `performance.now()` gives it; now when left out. */
  startedAt?: number;
  /** Other contexts that it works for, of which at most 32 are kept. */
  links?: readonly string[];
};

/**
 * Records spans. Both give null when there is nothing to record, and then nothing was made: `span?.set({ … })` costs
 * a comparison.
 */
export type Tracer = {
  /** A span below a context that is sampled, null below any other. */
  child: (name: string, kind: SpanKind, parent: string | null | undefined, links?: readonly string[]) => Span | null;
  /** A span in any case, unless nothing is recorded at all: whoever calls has decided that the trace is sampled. */
  begin: (name: string, kind: SpanKind, begin: SpanBegin) => Span | null;
};

/** Does the work of a span and ends it; an error fails it. `about` says what came of the work. */
export const inSpan = async <T>(
  span: Span | null,
  work: () => Promise<T>,
  about: (span: Span, result: T) => void,
): Promise<T> => {
  if (span === null) return work();
  try {
    const result = await work();
    about(span, result);
    return result;
  } catch (error) {
    span.fail(error instanceof Error ? error.name : "unknown");
    throw error;
  } finally {
    span.end();
  }
};

/** Records nothing. */
export const noTracer: Tracer = { child: () => null, begin: () => null };
