import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { Simulator } from "./kit/control.ts";
import type { Credentials } from "./kit/credentials.ts";
import { type SimulatedAnswer, type SimulatedRequest, startHttp2Server } from "./kit/http2-server.ts";
import { receivedLog } from "./kit/received.ts";
import { type Scripted, scripted } from "./kit/script.ts";

export type HmsSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  account: Credentials["hms"];
  tokenLifeSeconds?: number;
  now?: () => Date;
};

/**
 * Stands in for Push Kit and, under `/oauth2/v3/token`, for Huawei's OAuth: checks the client, the access token and the
 * form, size and tokens of each message. A scripted answer with the address prefix `oauth` is for the token endpoint. One
 * with the reason `80100000` is about the tokens that begin with its prefix; any other is the whole request's that has
 * such a token.
 */
export const startHms = async (options: HmsSimulatorOptions): Promise<Simulator> => {
  const { port, tls, account } = options;
  const log = receivedLog();
  const script = scripted((next) => server.apply(next));
  const issued = accessTokens(options);
  const send = (request: SimulatedRequest): SimulatedAnswer => {
    const { message = null, validate_only: isOnlyChecked = false } = requestOf(request.body);
    const tokens = (message?.token ?? []).map(String);
    const refused = check(request, message, { account, issued }) ?? scriptedRefusal(script, tokens);
    const illegal = refused === null ? illegalOf(script, tokens) : tokens;
    const { headers, body } = request;
    for (const address of tokens) {
      const accepted = !illegal.includes(address) && !isOnlyChecked;
      const answer = !illegal.includes(address) ? sent : (refused?.code ?? sentToSome);
      log.add({ address, key: `${String(message?.android?.bi_tag)} ${address}`, accepted, answer, headers, body });
    }
    return refused === null ? answerOf(tokens, illegal) : reply(refused);
  };
  const server = await startHttp2Server({
    port,
    tls,
    answer: (request) =>
      request.path === "/oauth2/v3/token" ? oauth(request, options, { script, issued }) : send(request),
  });
  return { channel: "hms_push", url: server.url, log, script: script.replace, stop: server.stop };
};

/** What a device reported of a push: the tag that it was sent with, and a receipt state (0: it has arrived). */
export type HmsStatus = { biTag: string; token: string; status: number };

/** A receipt as Push Kit posts it, signed for the user and key of its callback address. Source: Huawei, "Sending Receipts for Downlink Messages". */
export const hmsReceipt = ({ user, key }: { user: string; key: string }, statuses: readonly HmsStatus[], at: Date) => {
  const [timestamp, nonce] = [at.getTime(), randomUUID()];
  const value = createHmac("sha256", key).update(`${timestamp}${nonce}${user}`).digest("base64");
  const requestId = `17000000000000${++requests}`;
  return {
    headers: {
      "content-type": "application/json",
      "x-huawei-callback-id": `timestamp=${timestamp}; nonce=${nonce}; value=${value}`,
    },
    body: JSON.stringify({ statuses: statuses.map((one) => ({ ...one, appid: "1", timestamp, requestId })) }),
  };
};

const [sent, sentToSome, noneSent] = ["80000000", "80100000", "80300007"];

type Refused = { status: number; code: string; msg?: string; retryAfterSeconds?: number | undefined };

let requests = 0;

const reply = ({ status, code, msg = "refused", retryAfterSeconds }: Refused): SimulatedAnswer => ({
  status,
  headers: {
    "content-type": "application/json",
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  },
  body: JSON.stringify({ code, msg, requestId: `17000000000000${++requests}` }),
});

const answerOf = (tokens: readonly string[], illegal: readonly string[]): SimulatedAnswer => {
  if (illegal.length === 0) return reply({ status: 200, code: sent, msg: "Success" });
  if (illegal.length === tokens.length)
    return reply({ status: 200, code: noneSent, msg: "All the tokens are invalid" });
  const [success, failure] = [tokens.length - illegal.length, illegal.length];
  return reply({ status: 200, code: sentToSome, msg: JSON.stringify({ success, failure, illegal_tokens: illegal }) });
};

const isOfAll = ({ reason }: { reason: string }): boolean => reason !== sentToSome;

const scriptedRefusal = (script: Scripted, tokens: readonly string[]): Refused | null => {
  if (!script.current().answers.some(isOfAll)) return null;
  for (const token of tokens) {
    const answer = script.answerFor(token);
    if (answer !== null && isOfAll(answer))
      return { status: answer.status, code: answer.reason, retryAfterSeconds: answer.retry_after_seconds };
  }
  return null;
};

/** Tokens that are none, and those that the script calls so. */
const illegalOf = (script: Scripted, tokens: readonly string[]): string[] =>
  tokens.filter((token) => !/^[\w%:.=+/-]{20,}$/.test(token) || script.answerFor(token) !== null);

type AccessTokens = ReturnType<typeof accessTokens>;

const accessTokens = ({ tokenLifeSeconds: lifeSeconds = 3600, now = () => new Date() }: HmsSimulatorOptions) => {
  const expiries = new Map<string, number>();
  return {
    lifeSeconds,
    issue: (): string => {
      const token = randomBytes(48).toString("base64");
      if (expiries.size > 1000) expiries.clear();
      expiries.set(token, now().getTime() + lifeSeconds * 1000);
      return token;
    },
    refusalOf: (authorization: string): Refused | null => {
      const expiresAtMs = expiries.get(authorization.replace(/^Bearer /, ""));
      if (expiresAtMs === undefined) return { status: 401, code: "80200001", msg: "Oauth authentication error." };
      return now().getTime() < expiresAtMs ? null : { status: 401, code: "80200003", msg: "Oauth Token expired." };
    },
  };
};

const refuse = (status: number, sub_error: number, error_description: string): SimulatedAnswer => ({
  status,
  body: JSON.stringify({ error: 1101, sub_error, error_description }),
});

/** Source: Huawei, "Client Credentials" and "Server Error Codes" of Account Kit. */
const oauth = (
  { method, headers, body }: SimulatedRequest,
  { account }: HmsSimulatorOptions,
  { script, issued }: { script: Scripted; issued: AccessTokens },
): SimulatedAnswer => {
  const isScripted = script.current().answers.some(({ address_prefix: prefix }) => prefix === "oauth");
  const answer = isScripted ? script.answerFor("oauth") : null;
  if (answer !== null) return refuse(answer.status, 0, answer.reason);
  const form = new URLSearchParams(body);
  if (method !== "POST" || !headers["content-type"]?.startsWith("application/x-www-form-urlencoded"))
    return refuse(405, 0, "method or content type");
  if (form.get("grant_type") !== "client_credentials") return refuse(400, 20182, "invalid grant_type");
  if (form.get("client_id") !== account.appId) return refuse(400, 20003, "invalid client_id");
  if (form.get("client_secret") !== account.clientSecret) return refuse(400, 12304, "invalid client_secret");
  const granted = { access_token: issued.issue(), expires_in: issued.lifeSeconds, token_type: "Bearer" };
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(granted) };
};

type Message = {
  token?: unknown[];
  data?: unknown;
  notification?: { title?: unknown; body?: unknown };
  android?: { [member: string]: unknown; notification?: Record<string, unknown> };
};

type SendRequest = { message?: Message; validate_only?: boolean };

const requestOf = (body: string): SendRequest => {
  try {
    return (JSON.parse(body) as SendRequest | null) ?? {}; // members are checked one by one
  } catch {
    return {};
  }
};

type Known = { account: HmsSimulatorOptions["account"]; issued: AccessTokens };

const check = (
  { method, path, headers, body }: SimulatedRequest,
  message: Message | null,
  { account, issued }: Known,
): Refused | null => {
  if (method !== "POST" || path !== `/v1/${account.appId}/messages:send`) return { status: 404, code: "" };
  const unauthorized = issued.refusalOf(headers.authorization ?? "");
  if (unauthorized !== null) return unauthorized;
  const { token: tokens = [] } = message ?? {};
  if (message === null || tokens.length === 0 || tokens.length > 1_000)
    return { status: 400, code: "80300010", msg: "Tokens exceed the default value" };
  if (Buffer.byteLength(body) - Buffer.byteLength(JSON.stringify(tokens)) > 4096)
    return { status: 400, code: "80300008", msg: "The message body size exceeds the default value" };
  return problemOf(message);
};

const structure = (msg: string): Refused => ({ status: 400, code: "80100003", msg });

/** Source: Huawei, Push Kit, "Sending Downlink Messages": the structures of a message. */
const problemOf = ({ data, notification, android = {} }: Message): Refused | null => {
  if (data !== undefined && typeof data !== "string") return structure("data");
  const { collapse_key: collapseKey = -1, urgency = "NORMAL", ttl = "86400s", bi_tag: tag = "" } = android;
  if (!Number.isInteger(collapseKey) || Number(collapseKey) < -1 || Number(collapseKey) > 100)
    return { status: 400, code: "80100013", msg: "collapse_key" };
  if (!["HIGH", "NORMAL"].includes(String(urgency))) return structure("urgency");
  const seconds = /^(\d+)s?$/.exec(String(ttl))?.[1];
  if (seconds === undefined || Number(seconds) < 1 || Number(seconds) > 1_296_000)
    return { status: 400, code: "80100004", msg: "ttl" };
  if (typeof tag !== "string" || tag.length > 64) return structure("bi_tag");
  if (notification === undefined) return data === undefined ? structure("nothing to send") : null;
  const stray = strayMember({ title: "", body: "", ...notification, ...android.notification });
  return stray === null ? null : structure(stray);
};

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** What each member of a notification has to be. */
const members: Record<string, (value: unknown, all: Record<string, unknown>) => boolean> = {
  title: isText,
  body: isText,
  importance: (value) => ["LOW", "NORMAL"].includes(String(value)),
  default_sound: (value, { sound }) => value === true || isText(sound),
  sound: isText,
  click_action: (value) => isClick(Object(value) as Record<string, unknown>), // members are checked one by one
  channel_id: isText,
  icon: (value) => /^\/\w+\/\w+/.test(String(value)),
  color: (value) => /^#[0-9A-Fa-f]{6}$/.test(String(value)),
  image: (value) => String(value).startsWith("https://"),
  notify_summary: isText,
  group: isText,
  tag: isText,
  visibility: (value) => ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"].includes(String(value)),
  badge: (value) => isBadge(Object(value) as Record<string, unknown>), // the same
};

const strayMember = (notification: Record<string, unknown>): string | null => {
  if (notification["click_action"] === undefined) return "click_action";
  if (notification["sound"] === undefined && notification["default_sound"] !== true) return "sound";
  const isGood = ([name, value]: [string, unknown]): boolean => members[name]?.(value, notification) === true;
  return Object.entries(notification).find((member) => !isGood(member))?.[0] ?? null;
};

const isClick = ({ type, intent, action, url }: Record<string, unknown>): boolean => {
  if (type === 1) return (isText(intent) && /^intent:.*#Intent;.*end$/s.test(String(intent))) || isText(action);
  return type === 2 ? String(url).startsWith("https://") : type === 3;
};

const isBadge = ({ class: entry, set_num: set, add_num: add }: Record<string, unknown>): boolean =>
  isText(entry) && (isBetween(set, 0) || isBetween(add, 1));

const isBetween = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= 99;
