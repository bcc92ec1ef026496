import type { ApnsPush } from "#core/channels/ios-push/push.ts";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, type Provider, type Recipient, unusable } from "#core/domain/messages/outcome.ts";
import { notAnswered, type OpenTransport, providerOrigin, type TransportResult } from "../../net/transport.ts";
import { apnsOutcome } from "./apns-outcomes.ts";
import type { ApnsSigner, ApnsTokens } from "./apns-tokens.ts";

export type ApnsAccount = ApnsSigner & { bundleId: string };

export type ApnsDeps = {
  account: ApnsAccount;
  /** Of the account's environment: https unless loopback. */
  baseUrl: string;
  open: OpenTransport;
  /** Shared by all accounts. */
  tokens: ApnsTokens;
  clock: Clock;
  /** For one push, with both tries when its token had expired. */
  timeoutMs?: number;
};

/** For one push, unless the program's grace is shorter: APNs answers within a second. */
export const apnsTimeoutMs = 20_000;

/**
 * Sends to Apple devices with token authentication.
 * Source: Apple, "Sending notification requests to APNs".
 */
export const apns = ({
  account,
  baseUrl,
  open,
  tokens,
  clock,
  timeoutMs = apnsTimeoutMs,
}: ApnsDeps): Provider<ApnsPush> => {
  // APNs admits one stream until it has checked the token of the first request.
  const transport = open({ origin: providerOrigin(baseUrl), initialStreams: 1 });
  const send: Provider<ApnsPush>["send"] = async (push, to, signal, isOver) => {
    const token = tokens.current(account);
    if (token === null) return unusableKey;
    const id = apnsIdOf(to.deliveryId);
    const endsAtMs = performance.now() + timeoutMs;
    const post = (bearer: string): Promise<TransportResult> =>
      transport.request({
        path: pathOf(push, account, to),
        headers: headersOf(push, { token: bearer, id, topic: topicOf(push, account), now: clock.now(), to }),
        body: apnsBody(push, to.deliveryId, to.badge),
        timeoutMs: endsAtMs - performance.now(),
        signal,
        isOver,
      });
    const first = await post(token);
    const other = isExpired(first) ? tokens.renewed(account, token) : null;
    return outcomeOf(other === null ? first : await post(other), id, clock.now());
  };
  return { name: "apns", send, check: (signal) => send(silentPush, nobody, signal), close: transport.close };
};

/**
 * What an account is checked with. Apple has no other way to ask: its answer is BadDeviceToken as soon as the provider
 * token is good, because no device has this token.
 */
const silentPush = renderApns({
  messageId: "msg_0",
  content: { content_available: true },
  options: {},
  language: null,
  ttlSeconds: 0,
});
const nobody: Recipient = { deliveryId: `dlv_${"0".repeat(26)}`, subscriptionId: "sub_0", address: "0".repeat(64) };

/**
 * The id under which APNs knows a delivery: the 128 bits of its ULID in the form of a UUID, so that each can be read
 * from the other. (A hash of the id cost 5 µs a push.)
 */
export const apnsIdOf = (deliveryId: string): string => {
  let bits = 0;
  let width = -2; // 26 characters have 130 bits; the first two are 0
  let at = 0;
  for (let i = deliveryId.length - 26; i < deliveryId.length; i++) {
    bits = ((bits & 0xff) << 5) | (ulidValues[deliveryId.charCodeAt(i)] ?? 0);
    width += 5;
    if (width < 8) continue;
    width -= 8;
    idBytes[at++] = bits >> width;
  }
  const hex = idBytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

const idBytes = Buffer.alloc(16); // written and read within one call
const ulidAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ulidValues = Uint8Array.from({ length: 128 }, (_, code) => ulidAlphabet.indexOf(String.fromCharCode(code)));

const unusableKey = unusable("the private key is not an ES256 key in PEM form");

/** Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications". */
const topicOf = ({ pushType }: ApnsPush, { bundleId }: ApnsAccount): string =>
  pushType === "liveactivity" ? `${bundleId}.push-type.liveactivity` : bundleId;

/** Source: Apple, "Sending broadcast push notification requests to APNs". */
const pathOf = ({ isBroadcast }: ApnsPush, { bundleId }: ApnsAccount, { address }: Recipient): string =>
  isBroadcast === true ? `/4/broadcasts/apps/${bundleId}` : `/3/device/${encodeURIComponent(address)}`;

type Own = { token: string; id: string; topic: string; now: Date; to: Recipient };

const headersOf = (push: ApnsPush, { token, id, topic, now, to }: Own): Record<string, string> => {
  const where = { "apns-id": id, "apns-topic": topic };
  const headers: Record<string, string> = {
    authorization: `bearer ${token}`,
    ...(push.isBroadcast === true ? { "apns-channel-id": to.address, "apns-request-id": id } : where),
    "apns-push-type": push.pushType,
    "apns-priority": String(push.priority),
    "apns-expiration": String(push.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + push.ttlSeconds),
  };
  if (push.collapseId !== null) headers["apns-collapse-id"] = push.collapseId;
  return headers;
};

const isExpired = (result: TransportResult): boolean =>
  result.kind === "answer" && result.status === 403 && result.body.includes("ExpiredProviderToken");

const outcomeOf = (result: TransportResult, id: string, now: Date): Outcome => {
  if (result.kind !== "answer") return notAnswered(result, now);
  return apnsOutcome({ ...result, retryAfter: result.headers["retry-after"] }, id, now);
};
