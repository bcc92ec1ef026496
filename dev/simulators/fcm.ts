import { randomBytes } from "node:crypto";
import type { Simulator } from "./kit/control.ts";
import type { Credentials } from "./kit/credentials.ts";
import { type SimulatedAnswer, type SimulatedRequest, startHttp2Server } from "./kit/http2-server.ts";
import { checkJwt, publicKey } from "./kit/jwt-check.ts";
import { fcmFault, liveUpdateFault } from "./kit/payloads.ts";
import { receivedLog } from "./kit/received.ts";
import { type Scripted, scripted } from "./kit/script.ts";

export type FcmSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  accounts: readonly { projectId: string; clientEmail: string; publicKeyPem: string }[];
  /** Hosts under which it is reached beside its own: assertions may be meant for them. */
  addresses?: readonly string[];
  tokenLifeSeconds?: number;
  now?: () => Date;
};

/**
 * Stands in for FCM HTTP v1 and, under `/token`, for Google's OAuth: checks the grant's assertion, the access token and
 * the shape and size of each message. A scripted answer with the address prefix `oauth` is for the token endpoint.
 */
export const startFcm = async (options: FcmSimulatorOptions): Promise<Simulator> => {
  const { port, tls, now = () => new Date() } = options;
  const log = receivedLog();
  const script = scripted((next) => server.apply(next));
  const issued = accessTokens(options, now);
  const tokenEndpoint = oauth(options, () => server.url, script, issued);
  const send = (request: SimulatedRequest): SimulatedAnswer => {
    const { token: address = "", key = "", refused, isOnlyChecked = false } = check(request, issued);
    const error = refused ?? scriptedError(script, address);
    const answer = error === null ? "200" : `${error.status} ${error.code}`;
    const isSent = error === null && !isOnlyChecked;
    log.add({ address, key, accepted: isSent, answer, headers: request.headers, body: request.body });
    return error === null ? accepted(request.path, isOnlyChecked) : refuse(error);
  };
  const server = await startHttp2Server({
    port,
    tls,
    answer: (request) => (request.path === "/token" ? tokenEndpoint(request) : send(request)),
  });
  return { channel: "android_push", url: server.url, log, script: script.replace, stop: server.stop };
};

type FcmError = { status: number; code: string; message?: string; field?: string; retryAfterSeconds?: number };

const generalStatus: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const refuse = ({ status, code, message = "refused", field, retryAfterSeconds }: FcmError): SimulatedAnswer => ({
  status,
  headers: {
    "content-type": "application/json",
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  },
  body: JSON.stringify({
    error: {
      code: status,
      message,
      status: generalStatus[status] ?? "UNKNOWN",
      details: [
        { "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", errorCode: code },
        ...(field === undefined
          ? []
          : [
              {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                fieldViolations: [{ field, description: message }],
              },
            ]),
      ],
    },
  }),
});

let sent = 0;
const accepted = (path: string, isOnlyChecked: boolean): SimulatedAnswer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: `{"name":"${path.slice("/v1/".length).replace(":send", "")}/${isOnlyChecked ? "fake_message_id" : `0:${++sent}`}"}`,
});

const scriptedError = (script: Scripted, address: string): FcmError | null => {
  const answer = script.answerFor(address);
  if (answer === null) return null;
  const { status, reason, retry_after_seconds: retryAfterSeconds } = answer;
  return { status, code: reason, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
};

type Issued = Map<string, { projectId: string; expiresAtMs: number }>;
type AccessTokens = ReturnType<typeof accessTokens>;

const accessTokens = ({ tokenLifeSeconds = 3600 }: FcmSimulatorOptions, now: () => Date) => {
  const issued: Issued = new Map();
  return {
    lifeSeconds: tokenLifeSeconds,
    issue: (projectId: string): string => {
      const token = `ya29.${randomBytes(24).toString("base64url")}`;
      if (issued.size > 1000) issued.clear();
      issued.set(token, { projectId, expiresAtMs: now().getTime() + tokenLifeSeconds * 1000 });
      return token;
    },
    projectOf: (token: string): string | null => {
      const known = issued.get(token);
      return known !== undefined && now().getTime() < known.expiresAtMs ? known.projectId : null;
    },
  };
};

const oauth = (options: FcmSimulatorOptions, url: () => string, script: Scripted, issued: AccessTokens) => {
  const { accounts, addresses = [], now = () => new Date() } = options;
  const keys = new Map(
    accounts.map((account) => [account.clientEmail, { account, key: publicKey(account.publicKeyPem) }]),
  );
  return ({ body }: SimulatedRequest): SimulatedAnswer => {
    const isScripted = script.current().answers.some(({ address_prefix: prefix }) => prefix === "oauth");
    const answer = isScripted ? script.answerFor("oauth") : null;
    if (answer !== null) return { status: answer.status, body: JSON.stringify({ error: answer.reason }) };
    const form = new URLSearchParams(body);
    const assertion = form.get("assertion") ?? "";
    const account = keys.get(issuerOf(assertion));
    const jwt = account && checkJwt(assertion, ({ alg }) => (alg === "RS256" ? account.key : null));
    const nowSeconds = now().getTime() / 1000;
    const isGood =
      form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      audiences(url(), addresses).includes(String(jwt?.claims.aud)) &&
      String(jwt?.claims.scope).includes("firebase.messaging") &&
      Number(jwt?.claims.exp) > nowSeconds &&
      Number(jwt?.claims.exp) - Number(jwt?.claims.iat) <= 3600;
    if (!account || !isGood) return { status: 400, body: JSON.stringify({ error: "invalid_grant" }) };
    const granted = {
      access_token: issued.issue(account.account.projectId),
      expires_in: issued.lifeSeconds,
      token_type: "Bearer",
    };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(granted) };
  };
};

const audiences = (url: string, addresses: readonly string[]): string[] =>
  ["127.0.0.1", ...addresses].map((address) => `${url.replace("127.0.0.1", address)}/token`);

const issuerOf = (assertion: string): string => {
  try {
    const claims = JSON.parse(Buffer.from(assertion.split(".")[1] ?? "", "base64url").toString()) as { iss?: unknown };
    return String(claims.iss);
  } catch {
    return "";
  }
};

type Checked = { token?: string; key?: string; isOnlyChecked?: boolean; refused: FcmError | null };
type Message = {
  token?: unknown;
  topic?: unknown;
  data?: Record<string, unknown>;
  notification?: object;
  android?: { ttl?: string };
};

const check = ({ method, path, headers, body }: SimulatedRequest, issued: AccessTokens): Checked => {
  const project = /^\/v1\/projects\/([^/]+)\/messages:send$/.exec(path)?.[1];
  if (method !== "POST" || project === undefined) return { refused: { status: 404, code: "NOT_FOUND" } };
  const { message = null, validate_only: isOnlyChecked = false } = requestOf(body);
  if (message === null) return { refused: invalidArgument("message", "Invalid JSON payload received.") };
  const token = typeof message.token === "string" ? message.token : "";
  const checked = { token, key: deliveryIdOf(message) ?? token, isOnlyChecked };
  const allowed = issued.projectOf((headers.authorization ?? "").replace(/^Bearer /, ""));
  if (allowed === null) return { ...checked, refused: { status: 401, code: "UNAUTHENTICATED" } };
  if (allowed !== project) return { ...checked, refused: { status: 403, code: "PERMISSION_DENIED" } };
  return { ...checked, refused: messageRefusal(message, token) };
};

const invalidArgument = (field: string, message: string): FcmError => ({
  status: 400,
  code: "INVALID_ARGUMENT",
  field,
  message,
});

const messageRefusal = (message: Message, token: string): FcmError | null => {
  const { data = {}, notification = {}, android = {} } = message;
  const fault = fcmFault(message);
  if (fault !== null) return invalidArgument("message", `Invalid JSON payload received. ${fault}`);
  const badKey = Object.keys(data).find((key) => /^(?:from|message_type|google.*|gcm.*)$/.test(key));
  if (badKey !== undefined) return invalidArgument("message.data", `Invalid data payload key: ${badKey}`);
  if (Number.parseFloat(android.ttl ?? "0") > mostTtlSeconds)
    return invalidArgument("message.android.ttl", "Invalid time to live");
  const badUpdate = updateFault(message);
  if (badUpdate !== null) return invalidArgument("message.data", badUpdate);
  if (Buffer.byteLength(JSON.stringify({ data, notification })) > 4096 + 24)
    return { status: 400, code: "INVALID_ARGUMENT", message: "Android message is too big" };
  if (token === "" && typeof message.topic === "string" && /^[\w.~%-]+$/.test(message.topic)) return null;
  return /^[\w:-]{20,4096}$/.test(token) ? null : invalidArgument("message.token", "Invalid registration token");
};

/** Four weeks. Source: Firebase, REST resource projects.messages, AndroidConfig. */
const mostTtlSeconds = 2_419_200;

/**
 * FCM would take these; the app would not learn of them. A message with `notification` is shown by the system, and an app
 * in the background does not get it. Source: Firebase, "Receive messages in an Android app".
 */
const updateFault = ({ data: { live_update: text } = {}, notification }: Message): string | null => {
  if (typeof text !== "string") return null;
  if (notification !== undefined) return "a live update with a notification does not reach the app";
  try {
    return liveUpdateFault(JSON.parse(text));
  } catch {
    return "the live update is no JSON";
  }
};

type SendRequest = { message?: Message; validate_only?: boolean };

const requestOf = (body: string): SendRequest => {
  try {
    return (JSON.parse(body) as SendRequest | null) ?? {}; // members are checked one by one
  } catch {
    return {};
  }
};

const deliveryIdOf = ({ data }: Message): string | null =>
  typeof data?.herald === "string" ? (/"delivery_id":"(\w+)"/.exec(data.herald)?.[1] ?? null) : null;
