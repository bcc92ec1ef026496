import webPushLibrary from "web-push";
import {
  type ClickAddress,
  declarativeBody,
  maxWebPushBytes,
  type WebPushMessage,
} from "#core/channels/web-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import {
  NotBegun,
  type Outcome,
  type Provider,
  type Recipient,
  unreached,
  unusable,
} from "#core/domain/messages/outcome.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import type { GuardedClient, GuardedReply, GuardedRequest } from "../../net/guarded/client.ts";
import { refusal } from "../kit/outcomes.ts";
import { encryptWebPush } from "./encryption.ts";
import { webPushOutcome } from "./web-push-outcomes.ts";

/** VAPID identity of an app: contact (`mailto:` or `https:`), keys as base64url. */
export type WebPushAccount = { subject: string; publicKey: string; privateKey: string };

export type WebPushDeps = {
  account: WebPushAccount;
  /** All accounts share it: it refuses addresses inside the operator's network, and endpoints come from browsers. */
  client: GuardedClient;
  clock: Clock;
  /** Left out: no click is counted. */
  clickAddress?: ClickAddress;
  timeoutMs?: number;
  /** A part of `timeoutMs`. */
  connectTimeoutMs?: number;
};

/** For one push, unless the program's grace is shorter: push services answer within a second. */
export const webPushTimeoutMs = 10_000;

/** Sends to browsers: RFC 8030 with VAPID (RFC 8292) and aes128gcm (RFC 8291). */
export const webPush = ({
  account,
  client,
  clock,
  clickAddress = () => null,
  timeoutMs = webPushTimeoutMs,
  connectTimeoutMs = Math.min(timeoutMs, 5_000),
}: WebPushDeps): Provider<WebPushMessage> => {
  const authorization = vapid(account, clock);
  const pushes = underWay();
  const places = semaphore(maxRequests);
  const request = async (wanted: GuardedRequest, signal: AbortSignal): Promise<GuardedReply> => {
    const { isOver = () => false } = wanted;
    const isGivenUp = (): boolean => signal.aborted || isOver();
    if (isGivenUp()) throw new NotBegun(); // while it waited for its place
    const reply = await client.request(wanted, signal);
    if (reply.kind === "unreached" && isGivenUp()) throw new NotBegun();
    return reply;
  };
  const push: Provider<WebPushMessage>["send"] = async (message, to, signal, isOver) => {
    const prepared = prepare(message, to, clickAddress);
    if ("kind" in prepared) return prepared;
    const { url, body } = prepared;
    const token = authorization(url.origin);
    if (token === null) return unusableKeys;
    const headers = { ...headersOf(message), authorization: token };
    const limits = { timeoutMs, connectTimeoutMs, maxReplyBytes: 16_384 };
    const pool = { poolKey: account.publicKey, maxConnections: maxRequests, mayUseHttp2: true, mayRepeat: false }; // a repetition is shown twice
    const wanted: GuardedRequest = { url, method: "POST", headers, body, ...limits, ...pool, isOver };
    const reply = await places.run(() => request(wanted, signal));
    return outcomeOf(reply, clock.now());
  };
  return {
    name: "web_push",
    origins: { of: (address) => URL.parse(address)?.origin ?? "", spare: maxRequests / 4 },
    send: (...given) => pushes.add(push(...given)),
    // no push service knows the account before a browser has subscribed with its key: that it signs is all there is
    check: async () => (authorization(anyOrigin) === null ? unusableKeys : { kind: "sent", providerId: null }),
    close: pushes.settled,
  };
};

/** Requests of one account under way at once. Each needs a connection of its own, and a push service refuses a client with too many. */
const maxRequests = 64;

/** Everything that can be wrong with one push before it is sent. */
const prepare = (
  message: WebPushMessage,
  to: Recipient,
  clickAddress: ClickAddress,
): { url: URL; body: Buffer } | Outcome => {
  const text = declarativeBody(message, to.deliveryId, clickAddress);
  const url = URL.parse(to.address);
  if (url === null || to.webKeys === undefined) return badSubscription;
  if (Buffer.byteLength(text) > maxWebPushBytes) {
    return refusal("payload_error", "PAYLOAD_TOO_LARGE", `the payload is larger than ${maxWebPushBytes} bytes`);
  }
  try {
    return { url, body: encryptWebPush(text, to.webKeys) };
  } catch {
    return badSubscription; // a point that is not on the curve, or keys of another length
  }
};

const anyOrigin = "https://push.example";
const unusableKeys = unusable("the VAPID keys or subject cannot be used");
const badSubscription = refusal("token_invalid", "TOKEN_INVALID", "the subscription's endpoint or keys cannot be used");

const headersOf = ({ ttlSeconds, urgency, topic }: WebPushMessage): Record<string, string> => ({
  "content-type": "application/octet-stream",
  "content-encoding": "aes128gcm",
  ttl: String(ttlSeconds),
  urgency,
  ...(topic === null ? {} : { topic }),
});

const outcomeOf = (reply: GuardedReply, now: Date): Outcome => {
  switch (reply.kind) {
    case "answered":
      return webPushOutcome({ ...reply, body: reply.body.toString("utf8") }, now);
    case "refused":
      return refusal("token_invalid", "TOKEN_INVALID", reply.reason);
    case "unreached":
      return unreached(reply.reason, new Date(now.getTime() + unreachedPauseMs), "origin");
    case "broken":
      return { kind: "uncertain", reason: reply.reason, fault: "origin" };
  }
};

const unreachedPauseMs = 5_000;
const tokenLifeMs = 12 * 3_600_000; // RFC 8292 allows 24 h
const renewBeforeMs = 3_600_000;
const maxOrigins = 1_000; // push services are a handful; endpoints could be anything

/** `Authorization` for an origin, made once in 11 h; null when the account cannot sign. */
const vapid = (account: WebPushAccount, clock: Clock): ((origin: string) => string | null) => {
  const tokens = new Map<string, { value: string; renewAtMs: number }>();
  return (origin) => {
    const nowMs = clock.now().getTime();
    const known = tokens.get(origin);
    if (known !== undefined && known.renewAtMs > nowMs) return known.value;
    const value = sign(account, origin, Math.floor((nowMs + tokenLifeMs) / 1000));
    if (value === null) return null;
    if (tokens.size >= maxOrigins) tokens.clear();
    tokens.set(origin, { value, renewAtMs: nowMs + tokenLifeMs - renewBeforeMs });
    return value;
  };
};

const sign = ({ subject, publicKey, privateKey }: WebPushAccount, origin: string, expiresAt: number): string | null => {
  try {
    return webPushLibrary.getVapidHeaders(origin, subject, publicKey, privateKey, "aes128gcm", expiresAt).Authorization;
  } catch {
    return null; // a key of another length or a subject that is no address; the library's message would name it
  }
};
