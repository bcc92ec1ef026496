import { createPublicKey, type KeyObject, randomUUID } from "node:crypto";
import type { Simulator } from "./kit/control.ts";
import type { Credentials } from "./kit/credentials.ts";
import { type SimulatedAnswer, type SimulatedRequest, startHttp2Server } from "./kit/http2-server.ts";
import { type HttpsRequest, startHttpsServer } from "./kit/https-server.ts";
import { checkJwt } from "./kit/jwt-check.ts";
import { webPushFault } from "./kit/payloads.ts";
import { receivedLog } from "./kit/received.ts";
import { scripted } from "./kit/script.ts";
import { type BrowserSubscription, browserKeys } from "./kit/web-push-keys.ts";

export type WebPushSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  /** HTTP/2, as the large push services do; else HTTP/1.1. */
  isHttp2?: boolean;
  now?: () => Date;
};

export type WebPushSimulator = Omit<Simulator, "subscribe"> & { subscribe: () => BrowserSubscription };

/**
 * Stands in for a push service and the browsers behind it: checks VAPID, headers and size as the real ones do, and
 * decrypts each message with its browser's keys.
 */
export const startWebPush = async (options: WebPushSimulatorOptions): Promise<WebPushSimulator> => {
  const { port, tls, isHttp2 = true, now = () => new Date() } = options;
  const log = receivedLog();
  const answer = (request: HttpsRequest): SimulatedAnswer => {
    const address = `${server.url}${request.path}`;
    const text = browserKeys(request.path.slice(pathPrefix.length)).decrypt(request.body);
    const refused = refusal(request, { origin: server.url, now: now(), text }) ?? script.answerFor(address);
    const said = refused === null ? "201" : `${refused.status} ${refused.reason}`;
    const { headers } = request;
    log.add({ address, key: deliveryOf(text), accepted: refused === null, answer: said, headers, body: text ?? "" });
    return refused === null ? accepted(server.url) : refuse(refused);
  };
  const server = await (isHttp2
    ? startHttp2Server({ port, tls, encoding: "latin1", answer: (request) => answer(bytes(request)) })
    : startHttpsServer({ port, tls, answer }));
  const script = scripted(server.apply);
  const subscribe = (): BrowserSubscription => {
    const id = randomUUID();
    return { endpoint: `${server.url}${pathPrefix}${id}`, keys: browserKeys(id).keys };
  };
  return { channel: "web_push", url: server.url, log, script: script.replace, stop: server.stop, subscribe };
};

const bytes = ({ headers, body, ...rest }: SimulatedRequest): HttpsRequest => ({
  ...rest,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  body: Buffer.from(body, "latin1"),
});

const pathPrefix = "/push/";

type Refused = { status: number; reason: string; retry_after_seconds?: number };

const accepted = (origin: string): SimulatedAnswer => ({
  status: 201,
  headers: { location: `${origin}/message/${randomUUID()}` },
});

const refuse = ({ status, reason, retry_after_seconds }: Refused): SimulatedAnswer => ({
  status,
  headers: retry_after_seconds === undefined ? {} : { "retry-after": String(retry_after_seconds) },
  body: JSON.stringify({ code: status, reason }),
});

type Circumstances = { origin: string; now: Date; text: string | null };

const refusal = ({ method, path, headers, body }: HttpsRequest, at: Circumstances): Refused | null => {
  if (method !== "POST") return { status: 405, reason: "MethodNotAllowed" };
  if (!path.startsWith(pathPrefix)) return { status: 404, reason: "NoSuchSubscription" };
  const unauthorised = vapidRefusal(headers["authorization"], at);
  if (unauthorised !== null) return unauthorised;
  const badHeader = headerRefusal(headers);
  if (badHeader !== null) return { status: 400, reason: badHeader };
  if (body.length > 4096) return { status: 413, reason: "PayloadTooLarge" };
  if (at.text === null) return { status: 400, reason: "CannotDecrypt" };
  const fault = at.text.startsWith("{") ? webPushFault(JSON.parse(at.text)) : null; // a service worker would leave it out
  return fault === null ? null : { status: 400, reason: `BadPayload: ${fault}` };
};

/** Source: RFC 8292 2 and 4.2. */
const vapidRefusal = (authorization: string | undefined, { origin, now }: Circumstances): Refused | null => {
  const [, token, point] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization ?? "") ?? [];
  if (token === undefined || point === undefined) return { status: 401, reason: "MissingVapid" };
  const checked = checkJwt(token, ({ alg }) => (alg === "ES256" ? keyOf(point) : null));
  if (checked === null) return { status: 403, reason: "BadJwtToken" };
  const { aud, exp, sub } = checked.claims;
  const nowSeconds = now.getTime() / 1000;
  if (aud !== origin) return { status: 403, reason: "BadAudience" };
  if (typeof exp !== "number" || exp <= nowSeconds || exp > nowSeconds + 86_400) {
    return { status: 403, reason: "ExpiredJwtToken" };
  }
  return typeof sub === "string" && /^(mailto|https):/.test(sub) ? null : { status: 403, reason: "BadSubject" };
};

const keyOf = (point: string): KeyObject | null => {
  const bytes = Buffer.from(point, "base64url");
  const [x, y] = [bytes.subarray(1, 33).toString("base64url"), bytes.subarray(33, 65).toString("base64url")];
  try {
    return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  } catch {
    return null;
  }
};

/** Source: RFC 8030 5.2 to 5.4, RFC 8291 4. */
const headerRefusal = (headers: Record<string, string>): string | null => {
  if (!/^\d{1,9}$/.test(headers["ttl"] ?? "")) return "MissingTtl";
  if (headers["content-encoding"] !== "aes128gcm") return "BadContentEncoding";
  if (!["very-low", "low", "normal", "high"].includes(headers["urgency"] ?? "normal")) return "BadUrgency";
  return /^[A-Za-z0-9_-]{1,32}$/.test(headers["topic"] ?? "none") ? null : "BadTopic";
};

const deliveryOf = (text: string | null): string => /"delivery_id":"([^"]*)"/.exec(text ?? "")?.[1] ?? "";
