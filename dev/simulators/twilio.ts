import { createHmac, randomBytes } from "node:crypto";
import { type CallbackCaller, callbackCaller } from "./kit/callbacks.ts";
import type { Simulator } from "./kit/control.ts";
import type { Credentials, TwilioAccount } from "./kit/credentials.ts";
import type { SimulatedAnswer } from "./kit/http2-server.ts";
import { type HttpsRequest, startHttpsServer } from "./kit/https-server.ts";
import { receivedLog } from "./kit/received.ts";
import { type Script, scripted } from "./kit/script.ts";
import { basicsOf, prefix, type Refused, refusalOf } from "./twilio-checks.ts";

export type TwilioSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  /** The account of each channel. */
  accounts: Readonly<Record<string, TwilioAccount>>;
};

export type TwilioSimulator = {
  url: string;
  /** One for each account: what it was sent, and how it misbehaves. */
  channels: Readonly<Record<string, Simulator>>;
  /** A message of a person to one of an account's numbers, as Twilio passes it on. STOP and START count here, too. */
  write: (
    channel: string,
    message: { from: string; body: string; url: string; more?: Record<string, string> },
  ) => Promise<void>;
  /** Keeps a file that a person sent; gives its address. */
  keepFile: (channel: string, file: KeptFile) => string;
  /** SIDs of Content templates that are there already, by language and name: `en order_update`. */
  approved: Map<string, string>;
  /** Phones that do not take RCS. */
  withoutRcs: Set<string>;
  /** SIDs of the Content templates that were made. */
  templates: Set<string>;
  callbacks: CallbackCaller;
  stop: () => Promise<void>;
};

/**
 * Stands in for Twilio's Messaging and Content APIs: checks credentials, members, limits, senders and opt-outs, and reports
 * statuses, signed as Twilio signs them. A scripted answer has an error code as its reason.
 */
export const startTwilio = async ({ port, tls, accounts }: TwilioSimulatorOptions): Promise<TwilioSimulator> => {
  const callbacks = callbackCaller();
  const withoutRcs = new Set<string>();
  const templates = new Set<string>();
  const approved = new Map<string, string>();
  const known = Object.entries(accounts).map(([channel, account]) =>
    knownAccount(channel, account, (script) => server.apply(script)),
  );
  const answer = (request: HttpsRequest): SimulatedAnswer => {
    if (request.path === "/v1/Content") return createTemplate(known, request, templates);
    if (request.path.startsWith("/v2/Content?")) return findTemplates(known, request, approved);
    if (request.method === "GET") return fileAt(known, request);
    const of = known.find(({ account }) => request.path === `/2010-04-01/Accounts/${account.accountSid}/Messages.json`);
    if (of === undefined || request.method !== "POST") return refuse({ status: 404, code: 20404 });
    return createMessage(of, request, { callbacks, templates, approved, withoutRcs });
  };
  const server = await startHttpsServer({ port, tls, answer });
  const simulatorOf = ({ channel, log, script }: Known): Simulator => ({
    channel,
    url: server.url,
    log,
    script: script.replace,
    stop: server.stop,
  });
  return {
    url: server.url,
    channels: Object.fromEntries(known.map((one) => [one.channel, simulatorOf(one)])),
    keepFile: (channel, file) => {
      const of = known.find((one) => one.channel === channel);
      const path = `/2010-04-01/Accounts/${of?.account.accountSid}/Messages/${sid("MM")}/Media/${sid("ME")}`;
      of?.files.set(path, file);
      return `${server.url}${path}`;
    },
    approved,
    write: (channel, { from, body, url, more = {} }) => {
      const of = known.find((one) => one.channel === channel);
      if (of === undefined) throw new Error(`no account for ${channel}`);
      if (/^stop$/i.test(body)) of.optedOut.add(from);
      if (/^start$/i.test(body)) of.optedOut.delete(from);
      of.sessions.add(from);
      const said = { MessageSid: sid("SM"), Body: body, NumMedia: "0", ...betweenOf(of.account, from), ...more };
      return callbacks.make([callback(url, said, of.account)]);
    },
    withoutRcs,
    templates,
    callbacks,
    stop: server.stop,
  };
};

type KeptFile = { mimeType: string; content: string };

type Known = ReturnType<typeof knownAccount>;

/** Source: twilio.com/docs/messaging/guides/webhook-request, "WhatsApp-specific parameters". */
const betweenOf = ({ whatsappSender, senders }: TwilioAccount, from: string): Record<string, string> =>
  whatsappSender === undefined
    ? { From: from, To: senders[0] ?? "" }
    : {
        From: `whatsapp:${from}`,
        To: whatsappSender,
        WaId: from.slice(1),
        ProfileName: `Person ${from.slice(-4)}`,
        MessageType: "text",
      };

const knownAccount = (channel: string, account: TwilioAccount, changed: (script: Script) => void) => ({
  channel,
  account,
  log: receivedLog(),
  optedOut: new Set<string>(),
  /** People who have written, whose session on WhatsApp never ends here. */
  sessions: new Set<string>(),
  /** By their paths. */
  files: new Map<string, KeptFile>(),
  script: scripted(changed),
});

type World = {
  callbacks: CallbackCaller;
  templates: ReadonlySet<string>;
  approved: ReadonlyMap<string, string>;
  withoutRcs: ReadonlySet<string>;
};

const createMessage = (of: Known, { headers, body }: HttpsRequest, world: World): SimulatedAnswer => {
  const form = new URLSearchParams(body.toString("utf8"));
  const to = (form.get("To") ?? "").replace(prefix, "");
  const status = form.get("StatusCallback") ?? "";
  const scriptedAnswer = of.script.answerFor(to);
  const refused: Refused | null =
    scriptedAnswer === null
      ? refusalOf(form, headers["authorization"] ?? "", { ...of, templates: knownTemplates(world) })
      : { ...scriptedAnswer, code: Number(scriptedAnswer.reason) };
  const said = refused === null ? "201" : `${refused.status} ${refused.code}`;
  const entry = { address: to, key: status || `${to} ${form.get("Body")}`, accepted: refused === null, answer: said };
  of.log.add({ ...entry, headers, body: JSON.stringify(membersOf(form)) });
  if (refused !== null) return refuse(refused);
  const messageSid = sid("SM");
  void world.callbacks.make(statusesOf(of, form, { messageSid, to, world }));
  const created = {
    sid: messageSid,
    status: "queued",
    to: form.get("To"),
    error_code: null,
    account_sid: of.account.accountSid,
  };
  return { status: 201, headers: json, body: JSON.stringify(created) };
};

/** A name that comes several times, as media do, becomes a list. */
const membersOf = (form: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );

/** What Twilio reports of a message, unless the script says otherwise. A status may have an error code: `failed 30006`. */
const usual = ["sent", "delivered"];

const knownTemplates = ({ templates, approved }: World): ReadonlySet<string> =>
  new Set([...templates, ...approved.values()]);

/** On WhatsApp what is no approved template fails afterwards where its recipient has no session. */
const isOutOfSession = (
  { account, sessions }: Known,
  form: URLSearchParams,
  to: string,
  { approved }: World,
): boolean =>
  account.whatsappSender !== undefined &&
  !sessions.has(to) &&
  ![...approved.values()].includes(form.get("ContentSid") ?? "");

const statusesOf = (
  of: Known,
  form: URLSearchParams,
  { messageSid, to, world }: { messageSid: string; to: string; world: World },
) => {
  const { script, account } = of;
  const url = form.get("StatusCallback");
  const ends = isOutOfSession(of, form, to, world) ? ["failed 63016"] : usual;
  const isRcs = account.rcsSender !== undefined && !world.withoutRcs.has(to);
  const from = isRcs ? account.rcsSender : (form.get("From") ?? account.senders[0]);
  if (url === null) return [];
  return (script.current().statuses ?? ends).map((said) => {
    const [status = "", code] = said.split(" ");
    const error = code === undefined ? {} : { ErrorCode: code };
    const called = account.whatsappSender === undefined ? to : `whatsapp:${to}`;
    const members = { MessageSid: messageSid, MessageStatus: status, To: called, From: from ?? "", ...error };
    return callback(url, members, account);
  });
};

const callback = (url: string, members: Record<string, string>, { accountSid, authToken }: TwilioAccount) => {
  const all = { ...members, AccountSid: accountSid, ApiVersion: "2010-04-01" };
  const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
  const signature = createHmac("sha1", authToken)
    .update(url + sorted.flat().join(""))
    .digest("base64");
  const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature };
  return { url, headers, body: new URLSearchParams(all).toString() };
};

/** Source: twilio.com/docs/content/content-api-resources: at least one type, and a language. */
const createTemplate = (known: readonly Known[], request: HttpsRequest, templates: Set<string>): SimulatedAnswer => {
  const authorization = request.headers["authorization"] ?? "";
  if (!known.some(({ account }) => basicsOf(account).includes(authorization)))
    return refuse({ status: 401, code: 20003 });
  const { language, types } = JSON.parse(request.body.toString("utf8")) as { language?: unknown; types?: object };
  if (typeof language !== "string" || Object.keys(types ?? {}).length === 0)
    return refuse({ status: 400, code: 20001 });
  const made = sid("HX");
  templates.add(made);
  return { status: 201, headers: json, body: JSON.stringify({ sid: made, language, types }) };
};

/** Source: the same, "Template Search - v2": names are patterns. */
const findTemplates = (
  known: readonly Known[],
  { method, path, headers }: HttpsRequest,
  approved: ReadonlyMap<string, string>,
): SimulatedAnswer => {
  if (method !== "GET" || !known.some(({ account }) => basicsOf(account).includes(headers["authorization"] ?? "")))
    return refuse({ status: 401, code: 20003 });
  const query = new URL(path, "https://content.twilio.com").searchParams;
  const all = [...approved].map(([key, found]) => {
    const [language = "", name = ""] = key.split(" ");
    return { sid: found, friendly_name: name, language, date_updated: "2026-11-01T00:00:00Z" };
  });
  const contents = all.filter(
    ({ friendly_name: name, language }) =>
      language === query.get("Language") && name.includes(query.get("ContentName") ?? ""),
  );
  const meta = { page: 0, page_size: Number(query.get("PageSize")), key: "contents", next_page_url: null };
  return { status: 200, headers: json, body: JSON.stringify({ meta, contents }) };
};

/** A file of a message, for its account alone. */
const fileAt = (known: readonly Known[], { path, headers }: HttpsRequest): SimulatedAnswer => {
  const of = known.find(({ files }) => files.has(path));
  const file = of?.files.get(path);
  if (of === undefined || file === undefined) return refuse({ status: 404, code: 20404 });
  if (!basicsOf(of.account).includes(headers["authorization"] ?? "")) return refuse({ status: 401, code: 20003 });
  return { status: 200, headers: { "content-type": file.mimeType }, body: file.content };
};

const json = { "content-type": "application/json" };

const refuse = ({ status, code, retry_after_seconds: seconds }: Refused): SimulatedAnswer => ({
  status,
  headers: { ...json, ...(seconds === undefined ? {} : { "retry-after": String(seconds) }) },
  body: JSON.stringify({ code, message: "refused", more_info: `https://www.twilio.com/docs/errors/${code}`, status }),
});

const sid = (letters: string): string => letters + randomBytes(16).toString("hex");
