import { createHmac, hash, randomUUID } from "node:crypto";
import { type CallbackCaller, callbackCaller } from "./kit/callbacks.ts";
import type { Simulator } from "./kit/control.ts";
import type { Credentials, VonageAccount } from "./kit/credentials.ts";
import type { SimulatedAnswer } from "./kit/http2-server.ts";
import { type HttpsRequest, startHttpsServer } from "./kit/https-server.ts";
import { checkJwt, publicKey } from "./kit/jwt-check.ts";
import { receivedLog } from "./kit/received.ts";
import { type ScriptedAnswer, scripted } from "./kit/script.ts";

export type VonageSimulatorOptions = {
  port: number;
  tls: Credentials["tls"];
  account: VonageAccount;
  now?: () => Date;
};

export type VonageSimulator = Simulator & {
  /** A message of a person, as Vonage passes it on. */
  write: (message: { from: string; text: string; url: string }) => Promise<void>;
  callbacks: CallbackCaller;
};

/**
 * Stands in for Vonage's Messages API: checks the application's token, the members and their limits, and reports statuses,
 * each with a token over its body. A scripted answer has the end of the error's type as its reason.
 */
export const startVonage = async (options: VonageSimulatorOptions): Promise<VonageSimulator> => {
  const { port, tls, account, now = () => new Date() } = options;
  const log = receivedLog();
  const callbacks = callbackCaller();
  const key = publicKey(account.publicKeyPem);
  const answer = (request: HttpsRequest): SimulatedAnswer => {
    const message = messageOf(request.body);
    const address = `+${String(message["to"])}`;
    const refused = script.answerFor(address) ?? refusalOf(request, message, { account, key, now: now() });
    const said = refused === null ? "202" : `${refused.status} ${refused.reason}`;
    const { headers, body } = request;
    const accepted = refused === null;
    log.add({
      address,
      key: String(message["client_ref"]),
      accepted,
      answer: said,
      headers,
      body: body.toString("utf8"),
    });
    if (refused !== null) return refuse(refused);
    const id = randomUUID();
    const statuses = script.current().statuses ?? ["submitted", "delivered"];
    void callbacks.make(statuses.map((status) => statusOf(status, id, message, { account, now: now() })));
    return { status: 202, headers: json, body: JSON.stringify({ message_uuid: id, workflow_id: id }) };
  };
  const server = await startHttpsServer({ port, tls, answer });
  const script = scripted(server.apply);
  const write: VonageSimulator["write"] = ({ from, text, url }) => {
    const common = { channel: "sms", message_type: "text", message_uuid: randomUUID(), timestamp: now().toISOString() };
    const members = { ...common, from: from.replace(/^\+/, ""), to: account.senders[0]?.replace(/^\+/, ""), text };
    return callbacks.make([signed(url, members, { account, now: now() })]);
  };
  return { channel: "sms_vonage", url: server.url, log, script: script.replace, stop: server.stop, write, callbacks };
};

type Members = Record<string, unknown>;
type At = { account: VonageAccount; now: Date };

const messageOf = (body: Buffer): Members => {
  try {
    return Object(JSON.parse(body.toString("utf8"))) as Members; // members are checked one by one
  } catch {
    return {};
  }
};

const refusalOf = (
  { method, path, headers }: HttpsRequest,
  message: Members,
  { account, key, now }: At & { key: ReturnType<typeof publicKey> },
): ScriptedAnswer | null => {
  if (method !== "POST" || path !== "/v1/messages") return { status: 404, reason: "not-found" };
  const token = (headers["authorization"] ?? "").replace(/^Bearer /, "");
  const claims = checkJwt(token, ({ alg }) => (alg === "RS256" ? key : null))?.claims;
  const isOfApp = claims?.application_id === account.applicationId && typeof claims.jti === "string";
  if (!isOfApp || Number(claims.exp) <= now.getTime() / 1000) return { status: 401, reason: "unauthorized" };
  const problem = memberProblem(message, account);
  return problem === null ? null : { status: 422, reason: problem };
};

/** Source: developer.vonage.com/en/api/messages; numbers have no plus sign. */
const memberProblem = (message: Members, { senders }: VonageAccount): string | null => {
  const { channel, message_type: type, to, from, text, content, client_ref: ref, ttl, webhook_url: url } = message;
  if (typeof to !== "string" || !/^[1-9]\d{6,14}$/.test(to)) return "1170";
  if (typeof from !== "string" || !senders.some((sender) => sender.replace(/^\+/, "") === from)) return "1120";
  const isText = channel === "sms" && type === "text" && typeof text === "string" && text !== "";
  const isMedia = channel === "mms" && type === "content" && Array.isArray(content) && content.length > 0;
  if (!isText && !isMedia) return "1010";
  if (ref !== undefined && (typeof ref !== "string" || ref.length > 100)) return "1020";
  if (url !== undefined && (typeof url !== "string" || !URL.canParse(url))) return "1020";
  return ttl !== undefined && !(Number(ttl) >= 20 && Number(ttl) <= 604_800) ? "1130" : null;
};

/** A status may have an error: `rejected 1240`. */
const statusOf = (said: string, id: string, message: Members, at: At) => {
  const [status = "", code] = said.split(" ");
  const error = code === undefined ? {} : { error: { type: `${errors}#${code}`, title: Number(code), instance: id } };
  const { to, from, channel, client_ref: ref } = message;
  const common = { message_uuid: id, to, from, channel, timestamp: at.now.toISOString(), client_ref: ref };
  return signed(String(message["webhook_url"]), { ...common, status, ...error }, at);
};

const errors = "https://developer.vonage.com/api-errors/messages";

const signed = (url: string, members: Members, { account, now }: At) => {
  const body = JSON.stringify(members);
  const claims = {
    iss: "Vonage",
    iat: Math.floor(now.getTime() / 1000),
    jti: randomUUID(),
    payload_hash: hash("sha256", body),
  };
  const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ ...claims, application_id: account.applicationId })}`;
  const signature = createHmac("sha256", account.signatureSecret).update(text).digest("base64url");
  return { url, headers: { ...json, authorization: `Bearer ${text}.${signature}` }, body };
};

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

const json = { "content-type": "application/json" };

const refuse = ({ status, reason, retry_after_seconds: seconds }: ScriptedAnswer): SimulatedAnswer => ({
  status,
  headers: { ...json, ...(seconds === undefined ? {} : { "retry-after": String(seconds) }) },
  body: JSON.stringify({ type: `${errors}#${reason}`, title: reason, detail: "refused", instance: randomUUID() }),
});
