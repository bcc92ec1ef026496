import { createHmac, randomUUID } from "node:crypto";
import { type CallbackCaller, type CallbackToMake, callbackCaller } from "./kit/callbacks.ts";
import type { Simulator } from "./kit/control.ts";
import type { Credentials } from "./kit/credentials.ts";
import type { SimulatedAnswer } from "./kit/http2-server.ts";
import { type HttpsRequest, startHttpsServer } from "./kit/https-server.ts";
import { receivedLog } from "./kit/received.ts";
import { scripted } from "./kit/script.ts";
import { type JsonObject, type KnownTemplate, messageRefusal, type Refused } from "./whatsapp-checks.ts";

export type WhatsappSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  account: Credentials["whatsapp"];
  templates?: readonly KnownTemplate[];
  /** What the number may send; more is refused with 130429. */
  messagesPerSecond?: number;
  now?: () => Date;
};

export type WhatsappSimulator = Simulator & {
  /** Makes the handshake with a callback's address; statuses and what people write are posted there from then on. */
  connect: (url: string) => Promise<void>;
  /** A person writes a text, or a message of another type as Meta tells it: it opens their session. */
  write: (from: string, said: string | JsonObject) => Promise<void>;
  /** Keeps a file as what people send has it; gives its id. */
  keepFile: (file: KeptFile) => string;
  /** Opens a session without a callback. */
  openSession: (number: string) => void;
  callbacks: CallbackCaller;
};

export type KeptFile = { mimeType: string; content: string };

/** Templates of the simulated business account. */
export const simulatedTemplates: readonly KnownTemplate[] = [
  { name: "order_update", language: "en_US", body: 2 },
  { name: "receipt", language: "en", header: "document", body: 1, buttons: ["url"] },
  { name: "sale", language: "en", header: "image", body: 1, buttons: ["copy_code", "quick_reply"] },
  { name: "shop", language: "de", header: "location", body: 0 },
];

/**
 * Stands in for Meta's Cloud API: checks path, access token, shape and bounds of each message, the template and its
 * parameters, the session of 24 hours and the rate of the number. Reports statuses and what people write, signed.
 */
export const startWhatsapp = async (options: WhatsappSimulatorOptions): Promise<WhatsappSimulator> => {
  const { port, tls, account, templates = simulatedTemplates, messagesPerSecond = 1_000 } = options;
  const now = options.now ?? (() => new Date());
  const log = receivedLog();
  const sessions = new Set<string>();
  const rate = rateOf(messagesPerSecond);
  const { callbacks, connect, report } = reporter(account);

  const refusalOf = (request: HttpsRequest, message: JsonObject): (Refused & { status?: number }) | null => {
    const refused = requestRefusal(request, account) ?? messageRefusal(message, templates);
    if (refused !== null) return refused;
    const to = String(message["to"]);
    const answer = script.answerFor(to);
    if (answer !== null) return { code: Number(answer.reason), details: "scripted", status: answer.status };
    if (!rate.take()) return { code: 130429, details: "too many messages sent from this phone number" };
    const isOpen = message["type"] === "template" || sessions.has(to);
    return isOpen ? null : { code: 131047, details: "more than 24 hours have passed" };
  };
  const files = keptFiles(account);
  const answer = (request: HttpsRequest): SimulatedAnswer => {
    if (request.method === "GET") return files.answer(request);
    const message = parse(request.body);
    const { to, biz_opaque_callback_data: data } = message;
    const [address = "", key = ""] = [to, data].map((said) => (typeof said === "string" ? said : ""));
    const refused = refusalOf(request, message);
    const status = refused === null ? 200 : (refused.status ?? httpStatuses[refused.code] ?? 400);
    const said = refused === null ? "200" : `${status} ${refused.code}`;
    log.add({
      address,
      key,
      accepted: refused === null,
      answer: said,
      headers: request.headers,
      body: request.body.toString("utf8"),
    });
    if (refused !== null) return refuse(status, refused);
    const id = wamid(address);
    const { statuses } = script.current();
    void report(statusesOf({ id, recipient_id: address.slice(1), biz_opaque_callback_data: key }, statuses, now()));
    return accept(address, id);
  };
  const server = await startHttpsServer({ port, tls, answer });
  const script = scripted(server.apply);
  return {
    channel: "whatsapp",
    url: server.url,
    log,
    script: script.replace,
    stop: server.stop,
    connect,
    ...writing({ connect, report, sessions, now }),
    keepFile: files.keep,
    openSession: (number) => void sessions.add(number),
    callbacks,
  };
};

const parse = (body: Buffer): JsonObject => {
  try {
    return JSON.parse(body.toString("utf8")) as JsonObject; // members are checked one by one
  } catch {
    return {};
  }
};

const requestRefusal = ({ method, path, headers }: HttpsRequest, account: Credentials["whatsapp"]): Refused | null => {
  const [, phoneNumberId] = /^\/v\d{2}\.\d\/(\d+)\/messages$/.exec(path) ?? [];
  if (headers["authorization"] !== `Bearer ${account.accessToken}`)
    return { code: 190, details: "Invalid OAuth access token" };
  if (method !== "POST" || phoneNumberId !== account.phoneNumberId)
    return { code: 100, subcode: 33, details: "Unsupported post request" };
  return headers["content-type"] === "application/json" ? null : { code: 100, details: "Content-Type" };
};

/** Of Meta's documents, where they are not 400. */
const httpStatuses: Readonly<Record<number, number>> = { 190: 401, 130429: 429, 132001: 404 };

const refuse = (status: number, { code, subcode, details }: Refused): SimulatedAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    error: {
      message: `(#${code}) ${details}`,
      type: "OAuthException",
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      error_data: { messaging_product: "whatsapp", details },
      fbtrace_id: "simulated",
    },
  }),
});

const accept = (to: string, id: string): SimulatedAnswer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    messaging_product: "whatsapp",
    contacts: [{ input: to, wa_id: to.slice(1) }],
    messages: [{ id, message_status: "accepted" }],
  }),
});

/** As Meta's: base64 that has the number in it. */
const wamid = (number: string): string =>
  `wamid.${Buffer.from(`${number.slice(1)} ${randomUUID()}`).toString("base64")}`;

/** Takes so many in each second of the clock. */
const rateOf = (perSecond: number) => {
  let [second, taken] = [0, 0];
  return {
    take: (): boolean => {
      const current = Math.floor(performance.now() / 1_000);
      if (current !== second) [second, taken] = [current, 0];
      return ++taken <= perSecond;
    },
  };
};

const secondsOf = (at: Date): string => String(Math.floor(at.getTime() / 1_000));

/**
 * Statuses of a message in the order of a script, each with the instant that it has in Meta's own: a second apart.
 * `failed:131047` is a failure of that code.
 */
const statusesOf = (message: object, wanted: readonly string[] | null, now: Date): object[] => {
  const order = ["sent", "delivered", "read"];
  return (wanted ?? order).map((said) => {
    const [status = "", code] = said.split(":");
    const at = new Date(now.getTime() + Math.max(0, order.indexOf(status)) * 1_000);
    const errors = code === undefined ? {} : { errors: [{ code: Number(code), title: "scripted" }] };
    return { statuses: [{ ...message, status, timestamp: secondsOf(at), ...errors }] };
  });
};

type Writing = Pick<ReturnType<typeof reporter>, "connect" | "report"> & { sessions: Set<string>; now: () => Date };

/** What people do: to write opens their session. */
const writing = ({ connect, report, sessions, now }: Writing): Required<Pick<WhatsappSimulator, "write" | "say">> => {
  const write = (from: string, said: string | JsonObject): Promise<void> => {
    sessions.add(from);
    return report([written(from, said, now())]);
  };
  return {
    write,
    say: async ({ url, from, text }) => {
      await connect(url);
      await write(from, text);
    },
  };
};

const written = (from: string, said: string | JsonObject, at: Date): object => ({
  contacts: [{ profile: { name: `Person ${from.slice(-4)}` }, wa_id: from.slice(1) }],
  messages: [messageOf(from, said, at)],
});

const messageOf = (from: string, said: string | JsonObject, at: Date): object => ({
  from: from.slice(1),
  id: wamid(from),
  timestamp: secondsOf(at),
  ...(typeof said === "string" ? { type: "text", text: { body: said } } : said),
});

/** What people sent: an id leads to an address, and that to the file, each for who has the access token alone. */
const keptFiles = (account: Credentials["whatsapp"]) => {
  const kept = new Map<string, KeptFile>();
  const found = ({ path, headers }: HttpsRequest): [string, KeptFile | undefined] => {
    const [, place = "", id = ""] = /^\/(v\d{2}\.\d|files)\/(\d+)/.exec(path) ?? [];
    return [place, headers["authorization"] === `Bearer ${account.accessToken}` ? kept.get(id) : undefined];
  };
  return {
    keep: (file: KeptFile): string => {
      const id = String(1e15 + kept.size);
      kept.set(id, file);
      return id;
    },
    answer: (request: HttpsRequest): SimulatedAnswer => {
      const [place, file] = found(request);
      if (file === undefined) return refuse(404, { code: 100, subcode: 33, details: "Unsupported get request" });
      if (place === "files") return { status: 200, headers: { "content-type": file.mimeType }, body: file.content };
      const [id] = /\d{10,}/.exec(request.path) ?? [];
      const url = `https://${request.headers["host"]}/files/${id}`;
      return {
        status: 200,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messaging_product: "whatsapp", id, url, mime_type: file.mimeType }),
      };
    },
  };
};

/** Makes callbacks to the address that it is connected with, and none before. */
const reporter = (account: Credentials["whatsapp"]) => {
  const callbacks = callbackCaller();
  let url: string | null = null;
  return {
    callbacks,
    connect: async (to: string): Promise<void> => {
      await handshake(to, account);
      url = to;
    },
    report: (values: readonly object[]): Promise<void> => {
      const to = url;
      return callbacks.make(to === null ? [] : values.map((value) => callback(account, to, value)));
    },
  };
};

const callback = (account: Credentials["whatsapp"], url: string, value: object): CallbackToMake => {
  const metadata = { display_phone_number: "15550783881", phone_number_id: account.phoneNumberId };
  const changes = [{ field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes }] });
  const signature = createHmac("sha256", account.appSecret).update(body).digest("hex");
  return { url, body, headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` } };
};

const handshake = async (url: string, { verifyToken }: Credentials["whatsapp"]): Promise<void> => {
  const challenge = String(Math.floor(Math.random() * 1e9));
  const query = { "hub.mode": "subscribe", "hub.verify_token": verifyToken, "hub.challenge": challenge };
  const reply = await fetch(`${url}?${new URLSearchParams(query).toString()}`);
  if (reply.status !== 200 || (await reply.text()) !== challenge) throw new Error(`no handshake: ${reply.status}`);
};
