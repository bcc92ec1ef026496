import type { KeyObject } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http2";
import { simulatedChannels } from "./apns-channels.ts";
import type { Simulator } from "./kit/control.ts";
import type { Credentials } from "./kit/credentials.ts";
import { type SimulatedAnswer, type SimulatedRequest, startHttp2Server } from "./kit/http2-server.ts";
import { checkJwt, publicKey } from "./kit/jwt-check.ts";
import { apnsFault, liveActivityFault } from "./kit/payloads.ts";
import { receivedLog } from "./kit/received.ts";
import { scripted } from "./kit/script.ts";

export type ApnsSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  keys: readonly { teamId: string; keyId: string; publicKeyPem: string }[];
  now?: () => Date;
};

const maxPayloadBytes = 4096;
const maxTokenAgeSeconds = 3600;
const activityTopic = ".push-type.liveactivity";
const pushTypes = new Set(["alert", "background", "liveactivity", "voip", "complication", "fileprovider", "mdm"]);

/** Stands in for Apple's push service: checks the token, topic, headers, size and form of each push as it does. */
export const startApns = async ({
  port,
  tls,
  keys,
  now = () => new Date(),
}: ApnsSimulatorOptions): Promise<Simulator> => {
  const log = receivedLog();
  const refusal = refusals(providerTokens(keys, now));
  const script = scripted((next) => server.apply(next));
  const channels = simulatedChannels(providerTokens(keys, now));
  const answer = (request: SimulatedRequest): SimulatedAnswer => {
    const managed = channels.answer(request);
    if (managed !== null) return managed;
    const broadcast = channels.broadcast(request);
    if (broadcast !== null) {
      const { address, key, answer: refused } = broadcast;
      const said = refused ?? script.answerFor(address);
      const text = said === null ? "200" : `${said.status} ${said.reason}`;
      log.add({ address, key, accepted: said === null, answer: text, headers: request.headers, body: request.body });
      return said === null ? { status: 200, headers: { "apns-request-id": key } } : refuse(key, said, now());
    }
    const address = request.path.slice("/3/device/".length);
    const id = String(request.headers["apns-id"] ?? "");
    const refused = refusal(request, address) ?? script.answerFor(address) ?? unknown(address);
    const answer = refused === null ? "200" : `${refused.status} ${refused.reason}`;
    log.add({ address, key: id, accepted: refused === null, answer, headers: request.headers, body: request.body });
    return refused === null ? { status: 200, headers: { "apns-id": id } } : refuse(id, refused, now());
  };
  const server = await startHttp2Server({ port, tls, initialStreams: 1, answer });
  return { channel: "ios_push", url: server.url, log, script: script.replace, stop: server.stop };
};

type Refused = { status: number; reason: string; retry_after_seconds?: number };

/** No device has the token of zeros: connection tests send to it. Any other is some device's. */
const unknown = (token: string): Refused | null =>
  /[^0]/.test(token) ? null : { status: 400, reason: "BadDeviceToken" };

const refuse = (id: string, { status, reason, retry_after_seconds }: Refused, now: Date): SimulatedAnswer => ({
  status,
  headers: {
    "apns-id": id,
    ...(retry_after_seconds === undefined ? {} : { "retry-after": String(retry_after_seconds) }),
  },
  body: JSON.stringify(status === 410 ? { reason, timestamp: now.getTime() } : { reason }),
});

const refusals =
  (
    tokenRefusal: (authorization: string | undefined) => string | null,
    payloadFault = payloadFaults(),
    isMisused = tokenUses(),
  ) =>
  ({ method, path, headers, body }: SimulatedRequest, token: string): Refused | null => {
    if (method !== "POST") return { status: 405, reason: "MethodNotAllowed" };
    if (!path.startsWith("/3/device/")) return { status: 404, reason: "BadPath" };
    const badToken = tokenRefusal(headers.authorization);
    if (badToken !== null) return { status: 403, reason: badToken };
    const badHeader = headerRefusal(headers);
    if (badHeader !== null) return { status: 400, reason: badHeader };
    if (body.length === 0) return { status: 400, reason: "PayloadEmpty" };
    if (Buffer.byteLength(body) > maxPayloadBytes) return { status: 413, reason: "PayloadTooLarge" };
    const isActivity = headers["apns-push-type"] === "liveactivity";
    const fault = isActivity ? activityFault(body) : payloadFault(body);
    if (fault !== null) return { status: 400, reason: `BadPayload: ${fault}` };
    if (token === "") return { status: 400, reason: "MissingDeviceToken" };
    const isKnown = /^(?:[0-9a-f]{2}){32,200}$/i.test(token) && !isMisused(token, useOf(isActivity, body));
    return isKnown ? null : { status: 400, reason: "BadDeviceToken" };
  };

/** What a token is for: pushes to the app, to start activities, or one activity's updates. */
const useOf = (isActivity: boolean, body: string): string => {
  if (!isActivity) return "app";
  return body.includes('"event":"start"') ? "start" : "update";
};

const mostTokens = 100_000;

/** Apple gives a token out for one of these uses: what it is sent first is taken for that. */
const tokenUses = () => {
  const uses = new Map<string, string>();
  return (token: string, use: string): boolean => {
    const known = uses.get(token);
    if (known !== undefined) return known !== use;
    if (use !== "app" && uses.size < mostTokens) uses.set(token, use); // of others there are millions
    return false;
  };
};

const activityFault = (body: string): string | null => {
  try {
    return liveActivityFault(JSON.parse(body) as object); // its members are checked
  } catch {
    return "no JSON";
  }
};

/**
 * APNs takes any payload, and a device leaves out what Apple does not document: here it is refused, so that no test passes
 * with it. Checked are those with our own members, once for all recipients of a message.
 */
const payloadFaults = () => {
  const known = new Map<string, string | null>();
  return (body: string): string | null => {
    const shared = body.slice(0, body.indexOf(',"herald":{'));
    const found = known.get(shared);
    if (found !== undefined || !body.includes('"herald":{')) return found ?? null;
    if (known.size > 100) known.clear();
    const fault = apnsFault(JSON.parse(`${shared}}`));
    known.set(shared, fault);
    return fault;
  };
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const headerRefusal = (headers: IncomingHttpHeaders): string | null => {
  const type = String(headers["apns-push-type"] ?? "");
  const topic = String(headers["apns-topic"] ?? "");
  const priority = String(headers["apns-priority"] ?? "10");
  if (topic === "") return "MissingTopic";
  if (!/^[A-Za-z0-9.-]+$/.test(topic)) return "BadTopic";
  if (!pushTypes.has(type)) return "InvalidPushType";
  if ((type === "liveactivity") !== topic.endsWith(activityTopic)) return "InvalidPushType";
  if (!["1", "5", "10"].includes(priority) || (type === "background" && priority === "10")) return "BadPriority";
  if (!/^\d{1,12}$/.test(String(headers["apns-expiration"] ?? "0"))) return "BadExpirationDate";
  if (Buffer.byteLength(String(headers["apns-collapse-id"] ?? "")) > 64) return "BadCollapseId";
  if (headers["apns-id"] !== undefined && !uuid.test(String(headers["apns-id"]))) return "BadMessageId";
  return null;
};

/** Checks provider tokens; a token that was found good is looked up the next time, as 20,000 a second ask for it. */
const providerTokens = (keys: ApnsSimulatorOptions["keys"], now: () => Date) => {
  const known = new Map<string, KeyObject>(keys.map(({ keyId, publicKeyPem }) => [keyId, publicKey(publicKeyPem)]));
  const teams = new Map(keys.map(({ keyId, teamId }) => [keyId, teamId]));
  const issuedAt = new Map<string, number>();
  const check = (token: string): number | null => {
    const jwt = checkJwt(token, ({ alg, kid }) => (alg === "ES256" ? (known.get(String(kid)) ?? null) : null));
    if (jwt === null || jwt.claims.iss !== teams.get(String(jwt.header.kid))) return null;
    return typeof jwt.claims.iat === "number" ? jwt.claims.iat : null;
  };
  return (authorization: string | undefined): string | null => {
    if (!authorization?.startsWith("bearer ")) return "MissingProviderToken";
    const token = authorization.slice("bearer ".length);
    const issued = issuedAt.get(token) ?? check(token);
    if (issued === null) return "InvalidProviderToken";
    if (issuedAt.size > 100) issuedAt.clear();
    issuedAt.set(token, issued);
    const ageSeconds = now().getTime() / 1000 - issued;
    if (ageSeconds < -60) return "InvalidProviderToken";
    return ageSeconds > maxTokenAgeSeconds ? "ExpiredProviderToken" : null;
  };
};
