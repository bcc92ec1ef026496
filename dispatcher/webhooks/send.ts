import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import { signatureHeaders } from "#core/domain/signature.ts";
import { webhookBody } from "#core/domain/webhook-body.ts";
import { nextRequestAt } from "#core/domain/webhook-retry.ts";
import type { Sealed } from "#core/storage/sealed.ts";
import type { WebhookAttempt, WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import type { GuardedClient, GuardedReply, GuardedRequest } from "../guarded-request.ts";

export type SendDeps = {
  client: GuardedClient;
  /** Opens a sealed secret. `context` is the place it was sealed for. */
  unseal: (sealed: Sealed, context: string) => string;
  clock: Clock;
  random: Random;
  limits?: Partial<typeof requestLimits>;
};

/** One request that was made: what to store, and whether the endpoint is gone for good. */
export type Sent = { attempt: WebhookAttempt; isGone: boolean };

/** Source: decisions 10.3 (10 s in all, 3 s to connect). */
const requestLimits = { timeoutMs: 10_000, connectTimeoutMs: 3_000, maxReplyBytes: 16_384 };

export type SendWebhook = (endpoint: WebhookRow, delivery: WebhookDeliveryRow, signal: AbortSignal) => Promise<Sent>;

/** Makes one request for a delivery, signed anew. Only 2xx is success; 410 means that the endpoint is gone. */
export const sendWebhook =
  ({ client, unseal, clock, random, limits = {} }: SendDeps): SendWebhook =>
  async (endpoint, delivery, signal) => {
    const at = clock.now();
    const request = requestFor(endpoint, delivery, { unseal, at });
    const reply =
      "kind" in request ? request : await client.request({ ...request, ...requestLimits, ...limits }, signal);
    return sentOf(delivery, reply, { at, now: clock.now(), random });
  };

/** The signed request, or why there can be none. */
const requestFor = (
  endpoint: WebhookRow,
  delivery: WebhookDeliveryRow,
  { unseal, at }: Pick<SendDeps, "unseal"> & { at: Date },
): Pick<GuardedRequest, "url" | "method" | "headers" | "body"> | GuardedReply => {
  const url = URL.parse(endpoint.url);
  if (url === null) return { kind: "refused", reason: "the url is no address" };
  const secrets = secretsOf(endpoint, unseal, at);
  if (secrets === null) return { kind: "refused", reason: "the signing secret cannot be opened" };
  const body = webhookBody(delivery.payload);
  const signature = signatureHeaders({ secrets, eventId: delivery.event_id, at, body });
  return { url, method: "POST", headers: headersOf(delivery, signature), body };
};

/** The current secret and, within its day, the one before it; null when the key ring lacks their key. */
const secretsOf = (endpoint: WebhookRow, unseal: SendDeps["unseal"], at: Date): [string, ...string[]] | null => {
  const open = (sealed: Sealed): string => unseal(sealed, `webhooks/${endpoint._id}/secret`);
  const { secret, previous_secret: previous } = endpoint;
  try {
    return [open(secret), ...(previous !== null && previous.expires_at > at ? [open(previous.secret)] : [])];
  } catch {
    return null; // the error would be the same for every delivery: it is told in each one's row
  }
};

const headersOf = (
  { _id, event_id, event_type, attempt }: WebhookDeliveryRow,
  signature: Record<string, string>,
): Record<string, string> => ({
  "content-type": "application/json",
  "user-agent": "Service-Webhooks/1.0",
  "service-event-id": event_id,
  "service-event-type": event_type,
  "service-delivery-id": _id,
  "service-attempt": String(attempt + 1),
  ...signature,
});

type Circumstances = { at: Date; now: Date; random: Random };

const sentOf = (delivery: WebhookDeliveryRow, reply: GuardedReply, { at, now, random }: Circumstances): Sent => {
  const error = errorOf(reply);
  const isGone = reply.kind === "answered" && reply.status === 410;
  const requests = delivery.attempt + 1;
  const nextAt = error === null || isGone ? null : nextRequestAt(requests, now, askedFor(reply, now), random);
  const attempt: WebhookAttempt = {
    _id: delivery._id,
    status: error === null ? "success" : nextAt === null ? "dead" : "failed",
    attempt: requests,
    due_at: nextAt,
    response_status: reply.kind === "answered" ? reply.status : null,
    response_body_excerpt: reply.kind === "answered" ? excerptOf(reply.body) : null,
    error,
    duration_ms: now.getTime() - at.getTime(),
    delivered_at: error === null ? now : null,
  };
  return { attempt, isGone };
};

/** Why the request was no success; null when it was. */
const errorOf = (reply: GuardedReply): string | null => {
  if (reply.kind !== "answered") return reply.reason;
  if (reply.broken !== null) return reply.broken;
  return reply.status >= 200 && reply.status < 300 ? null : `answered ${reply.status}`;
};

const longestMs = 86_400_000;

const askedFor = (reply: GuardedReply, now: Date): Date | null =>
  reply.kind === "answered" ? retryAfter(reply.headers["retry-after"], now, longestMs) : null;

/** The database keeps no NUL. */
const excerptOf = (body: Buffer): string => body.toString("utf8").replaceAll("\0", "").slice(0, 1000);
