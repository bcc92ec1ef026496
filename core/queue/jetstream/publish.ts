import { JetStreamApiError } from "@nats-io/jetstream";
import { errors, headers, type MsgHdrs } from "@nats-io/nats-core";
import { Unavailable } from "../../errors.ts";
import { isSampled } from "../../runtime/tracing/traceparent.ts";
import { inSpan, noTracer, type Span, type Tracer } from "../../runtime/tracing/tracer.ts";
import type { Nats } from "./connect.ts";

export type Publisher = {
  /**
   * Publishes JSON to JetStream and waits until it is stored. `refused`: the stream, or this subject's share of it, is
   * full, or there is no such stream now; nothing was stored.
   * @throws Unavailable when JetStream is away or does not answer within 2 s; it may have been stored
   */
  publish: (subject: string, data: unknown, options?: PublishOptions) => Promise<"published" | "refused">;
  /** The same for a body that is JSON already. */
  publishText: (subject: string, json: string, options?: PublishOptions) => Promise<"published" | "refused">;
};

export type PublishOptions = {
  /** A second publication with this id within the stream's window is dropped. */
  id?: string | undefined;
  /** W3C trace context, handed on to the worker. */
  traceparent?: string | null | undefined;
  /** The stream may have the same already, under another id or for longer than its window: the worker is told. */
  mayBeRepeated?: boolean | undefined;
};

/** Says of a message that its content may have come before. */
export const repeatedHeader = "herald-may-be-repeated";

/** What is sampled has a span of its own, whose context the message carries. */
export const publisher = (
  { js, isConnected }: Pick<Nats, "js" | "isConnected">,
  tracer: Pick<Tracer, "child"> = noTracer,
): Publisher => {
  const put = async (subject: string, json: string, options: PublishOptions): Promise<Published> => {
    if (!isConnected()) throw new Unavailable("JetStream");
    try {
      const { id } = options;
      await js.publish(subject, json, { ...headed(options), ...(id !== undefined && { msgID: id }) });
      return "published";
    } catch (error) {
      if (isRefusal(error)) return "refused";
      throw isAway(error) ? new Unavailable("JetStream", { cause: error }) : error;
    }
  };
  const publishText: Publisher["publishText"] = async (subject, json, options = {}) => {
    if (!isSampled(options.traceparent)) return put(subject, json, options);
    const span = tracer.child(`publish ${kindOf(subject)}`, "producer", options.traceparent);
    const traceparent = span?.traceparent ?? options.traceparent;
    return inSpan(span, () => put(subject, json, { ...options, traceparent }), about(subject, json));
  };
  return { publishText, publish: (subject, data, options) => publishText(subject, JSON.stringify(data), options) };
};

type Published = "published" | "refused";

/** What a subject is for, which is its second part; the others are the installation, a plan and a tenant. */
const kindOf = (subject: string): string => subject.split(".")[1] ?? subject;

/** Source of the names: OpenTelemetry's semantic conventions for messaging, "Producer spans". */
const about =
  (subject: string, json: string) =>
  (span: Span, result: Published): void => {
    span.set({
      "messaging.system": "nats",
      "messaging.operation.type": "send",
      "messaging.operation.name": "publish",
      "messaging.destination.template": kindOf(subject),
      "messaging.message.body.size": Buffer.byteLength(json),
      "herald.outcome": result,
    });
    if (result === "refused") span.fail(result);
  };

const headed = ({ traceparent, mayBeRepeated = false }: PublishOptions): { headers?: MsgHdrs } => {
  if (!traceparent && !mayBeRepeated) return {};
  const made = headers();
  if (traceparent) made.set("traceparent", traceparent);
  if (mayBeRepeated) made.set(repeatedHeader, "1");
  return { headers: made };
};

/** Errors of a stream with no room. Source: nats-server 2.15 server/errors.json: STORE_FAILED, INSUFFICIENT_RESOURCES, STORAGE_RESOURCES_EXCEEDED, MEMORY_RESOURCES_EXCEEDED. */
const fullCodes = new Set([10_077, 10_023, 10_047, 10_028]);

const isRefusal = (error: unknown): boolean => {
  if (error instanceof JetStreamApiError) return fullCodes.has(error.code);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof errors.RequestError && cause.isNoResponders(); // no stream takes the subject
};

/** Whether an error means that NATS or JetStream could not be reached, so that the same call may work later. */
export const isAway = (error: unknown): boolean =>
  error instanceof errors.TimeoutError ||
  error instanceof errors.ConnectionError ||
  error instanceof errors.ClosedConnectionError ||
  error instanceof errors.DrainingConnectionError ||
  error instanceof errors.RequestError;
