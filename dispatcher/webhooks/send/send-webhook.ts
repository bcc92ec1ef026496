import type { KeyObject } from "node:crypto";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import { contentTypeOf } from "#core/domain/webhooks/body.ts";
import { nextRequestAt } from "#core/domain/webhooks/retry.ts";
import { signatureHeaders } from "#core/domain/webhooks/signature.ts";
import type { BodyTemplates, Rendered } from "#core/runtime/templates/body-templates.ts";
import type { Span, Tracer } from "#core/runtime/tracing/tracer.ts";
import type { BatchEnvelope, EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import type { DeliveryResult, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { GuardedClient, GuardedReply } from "../../net/guarded/client.ts";
import type { Prepared, prepare } from "./prepare.ts";

export type SendDeps = {
  client: Pick<GuardedClient, "request">;
  templates: Pick<BodyTemplates, "render">;
  tracer: Pick<Tracer, "child">;
  clock: Clock;
  random: Random;
};

/** A request that was made: what to store, and whether the endpoint is gone for good, which a test never decides. */
export type Sent = { result: DeliveryResult; isGone: boolean };

export type SendWebhook = (endpoint: ReturnType<typeof prepare>, delivery: WebhookDeliveryRow) => Promise<Sent>;

/** Requests to endpoints: an endpoint is prepared once for many of them. */
export type WebhookRequests = { prepare: (row: WebhookRow) => ReturnType<typeof prepare>; send: SendWebhook };

/** Source: docs/reference/webhooks.md#requests. */
export const requestBounds = { connectMs: 3_000, replyBytes: 16_384, excerptCharacters: 1_000 } as const;

/** A request is bounded by its own deadline and never cut off: its endpoint may have received it. */
const never = new AbortController().signal;

/** Makes one request for a delivery, signed anew. Only 2xx is success; 410 means that the endpoint is gone. */
export const sendWebhook =
  ({ client, templates, tracer, clock, random }: SendDeps): SendWebhook =>
  async (endpoint, delivery) => {
    const at = clock.now();
    const [parent, ...links] = delivery.traces ?? [];
    const span = parent === undefined ? null : tracer.child("POST", "client", parent, links);
    const end = "problem" in endpoint ? configuration(endpoint.problem) : await exchange(endpoint).catch(notMade);
    if (span !== null) endSpan(span, delivery, end);
    return sentOf(delivery, end, { at, now: clock.now(), random });

    async function exchange({ row, url, ...secrets }: Prepared): Promise<End> {
      const body = await bodyOf(row, delivery, templates);
      if ("error" in body) return failed("template", `template: ${body.error.message}`);
      const reply = await client.request(
        {
          url,
          method: "POST",
          headers: headersOf({ row, url, ...secrets }, delivery, { at, body: body.body }),
          body: body.body,
          poolKey: row._id,
          maxConnections: row.max_in_flight,
          timeoutMs: row.timeout_ms,
          connectTimeoutMs: requestBounds.connectMs,
          maxReplyBytes: requestBounds.replyBytes,
          mayRepeat: true, // receivers know an event by its id
        },
        never,
      );
      return endOf(reply, clock.now());
    }
  };

/** Not where it went: an endpoint's address may hold a secret of its owner's. */
const endSpan = (span: Span, delivery: WebhookDeliveryRow, { status, errorClass }: End): void => {
  span.set({
    "http.request.method": "POST",
    ...(status !== null && { "http.response.status_code": status }),
    "herald.tenant": delivery.tenant_id,
    "herald.app": delivery.app_id,
    "herald.endpoint": delivery.endpoint_id,
    "herald.delivery": delivery._id,
    "herald.event_type": delivery.event_type,
    "herald.attempt": delivery.attempt + 1,
  });
  if (errorClass !== null) span.fail(errorClass);
  span.end();
};

/** How a request ended; `errorClass` null is success. */
type End = {
  status: number | null;
  excerpt: string | null;
  errorClass: WebhookErrorClass | null;
  error: string | null;
  askedFor: Date | null;
};

const failed = (errorClass: WebhookErrorClass, error: string): End => ({
  status: null,
  excerpt: null,
  errorClass,
  error,
  askedFor: null,
});

const configuration = (problem: string): End => failed("configuration", problem);

/** A fault of ours must not end the process, which has deliveries of others in memory. */
const notMade = (error: unknown): End =>
  configuration(`the request could not be made: ${error instanceof Error ? error.name : "unknown"}`);

const bodyOf = async (
  { body_template: template, body_content_type: contentType }: Prepared["row"],
  { payload }: WebhookDeliveryRow,
  templates: SendDeps["templates"],
): Promise<Rendered> =>
  template === null
    ? { body: payload }
    : templates.render(template, contentType, JSON.parse(payload) as EventEnvelope | BatchEnvelope); // our own text

const headersOf = (
  { row, key, previous, headers }: Prepared,
  { _id, event_id: eventId, event_type: eventType, attempt }: WebhookDeliveryRow,
  { at, body }: { at: Date; body: string },
): Record<string, string> => ({
  ...headers,
  "content-type": contentTypeOf(row.body_template, row.body_content_type),
  "user-agent": "Service-Webhooks/1.0",
  "service-event-id": eventId,
  "service-event-type": eventType,
  "service-delivery-id": _id,
  "service-attempt": String(attempt + 1),
  ...signatureHeaders({ keys: keysAt(key, previous, at), eventId, at, body }),
});

const keysAt = (key: KeyObject, previous: Prepared["previous"], at: Date): [KeyObject, ...KeyObject[]] =>
  previous !== null && previous.expiresAt > at ? [key, previous.key] : [key];

/** The longest wait that a `Retry-After` may ask for. Source: docs/reference/webhooks.md#retries. */
const longestRetryMs = dayMs;

const endOf = (reply: GuardedReply, now: Date): End => {
  if (reply.kind !== "answered") return failed(reply.errorClass, reply.reason);
  const { status, broken } = reply;
  const refused = classOf(status); // the status counts, whatever becomes of the body
  return {
    status,
    excerpt: excerptOf(reply.body),
    errorClass: refused ?? broken?.errorClass ?? null,
    error: refused === null ? (broken?.reason ?? null) : `answered ${status}`,
    askedFor: retryAfter(reply.headers["retry-after"], now, longestRetryMs),
  };
};

const classOf = (status: number): WebhookErrorClass | null => {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return "gone";
  if (status === 429) return "throttled";
  if (status >= 300 && status < 400) return "redirect";
  return status >= 500 ? "server_error" : "client_error";
};

/** Without NUL, which the database does not store. */
const excerptOf = (body: Buffer): string =>
  body.toString("utf8").replaceAll("\0", "").slice(0, requestBounds.excerptCharacters);

type Circumstances = { at: Date; now: Date; random: Random };

const sentOf = (delivery: WebhookDeliveryRow, end: End, { at, now, random }: Circumstances): Sent => {
  const isGone = end.errorClass === "gone";
  const requests = delivery.attempt + 1;
  const nextAt = end.errorClass === null || isGone ? null : nextRequestAt(requests, now, end.askedFor, random);
  const result: DeliveryResult = {
    _id: delivery._id,
    status: end.errorClass === null ? "success" : nextAt === null ? "dead" : "failed",
    attempt: requests,
    due_at: nextAt,
    delivered_at: end.errorClass === null ? now : null,
    made: {
      at,
      response_status: end.status,
      duration_ms: now.getTime() - at.getTime(),
      error_class: end.errorClass,
      error: end.error,
      response_body_excerpt: end.excerpt,
    },
  };
  return { result, isGone: isGone && delivery.event_type !== "webhook.test" };
};
