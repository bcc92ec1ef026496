import { createHmac, hash } from "node:crypto";
import type { ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  accepted,
  type Callback,
  type CallbackContent,
  type CallbackDefinition,
  type CallbackRequest,
  isSame,
  refused,
  UnreadableCallback,
  unknown,
  type Verdict,
} from "../callbacks.ts";
import { refusedFact } from "../refusals.ts";
import type { TwilioCredentials } from "./account.ts";
import { twilioErrors } from "./errors.ts";
import { inboundIn, type Members, whatsappPrefix } from "./inbound.ts";

/** The part of the callback address of a delivery's statuses. */
export const statusPart = (deliveryId: string): string => `status/${deliveryId}`;
const inboundPart = "messages";
const isStatus = /^status(?:\/(dlv_\w{1,40}))?$/;

/**
 * Twilio's callbacks: statuses of messages that we sent, and messages from people. `codeOf` says by its sender when a
 * message went another way. Their signature has no instant, so one may be played again: a status then changes nothing, and
 * a STOP or START is followed once, by the id of its message. With `whatsappSender` they are those of WhatsApp, and messages to
 * another number are answered and not read.
 * Sources: twilio.com/docs/usage/webhooks/webhooks-security, twilio.com/docs/messaging/guides/track-outbound-message-status,
 * twilio.com/docs/messaging/guides/webhook-request.
 */
export const twilioCallbacks = <Account>(
  credentialsOf: (account: Account) => Pick<TwilioCredentials, "auth_token"> | null,
  { codeOf = () => null, whatsappSender }: Particular<Account> = {},
): CallbackDefinition<Account> => ({
  verify: (request, { account }) => {
    const credentials = credentialsOf(account);
    const isInbound = request.part === inboundPart;
    if (credentials === null || request.method !== "POST" || !(isInbound || isStatus.test(request.part)))
      return unknown;
    if (!isSigned(request, credentials.auth_token)) return refused;
    if (!isInbound) return accepted;
    const isOfAnother =
      whatsappSender !== undefined && calledIn(request) !== `${whatsappPrefix}${whatsappSender(account)}`;
    return isOfAnother ? { ...noAnswer, kind: "answered" } : noAnswer;
  },
  read: (callback) => {
    const members = membersOf(callback);
    return callback.part === inboundPart
      ? { receipts: [], inbound: inboundIn(members, callback.receivedAt, whatsappSender !== undefined) }
      : receiptIn(members, callback, codeOf);
  },
});

type Particular<Account> = { codeOf?: CodeOf; whatsappSender?: (account: Account) => string | null };

/** TwiML that answers a message with nothing. */
const noAnswer = {
  kind: "queued",
  reply: { contentType: "text/xml", text: "<Response></Response>" },
} as const satisfies Verdict;

/** Whom a message was sent to. */
const calledIn = (request: CallbackRequest): string => {
  const contentType = (request.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  try {
    return membersOf({ ...request, contentType })("To");
  } catch {
    return ""; // no JSON: there is nothing in it that could be read
  }
};

/** A JSON body is signed by its hash, which the address carries; a form by each of its members. */
const isSigned = (request: CallbackRequest, authToken: string): boolean => {
  const signature = request.header("x-twilio-signature") ?? "";
  const bodyHash = URL.parse(request.url)?.searchParams.get("bodySHA256") ?? null;
  if (bodyHash !== null && !isSame(bodyHash.toLowerCase(), hash("sha256", request.body))) return false;
  const signed = bodyHash === null ? sortedMembers(request.body) : "";
  return addressesOf(request.url)
    .map((address) => isSame(signature, signatureOf(`${address}${signed}`, authToken)))
    .includes(true);
};

export const signatureOf = (signed: string, authToken: string): string =>
  createHmac("sha1", authToken).update(signed).digest("base64");

/** Twilio may sign an address as it was given it, or with its port written out. */
const addressesOf = (url: string): string[] => {
  const { origin = "", port = "", protocol } = URL.parse(url) ?? {};
  if (port !== "" || !url.startsWith(origin)) return [url];
  return [url, `${origin}:${protocol === "https:" ? 443 : 80}${url.slice(origin.length)}`];
};

/** Names with their values, in the order of the names; values of one name in their own order, each once. */
const sortedMembers = (body: Buffer): string => {
  const members = Map.groupBy(new URLSearchParams(body.toString("utf8")), ([name]) => name);
  const names = [...members.keys()].sort();
  return names
    .map((name) => name + [...new Set(members.get(name)?.map(([, value]) => value))].sort().join(name))
    .join("");
};

const membersOf = ({ body, contentType }: Pick<Callback, "body" | "contentType">): Members => {
  const text = body.toString("utf8");
  const form = contentType === "application/json" ? objectIn(text) : Object.fromEntries(new URLSearchParams(text));
  return (name) => {
    const value = form[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
};

const objectIn = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>; // an object's members are checked one by one
  } catch (cause) {
    throw new UnreadableCallback("the body is no JSON", { cause });
  }
};

type CodeOf = (from: string) => string | null;

const receiptIn = (members: Members, { part, receivedAt }: Callback, codeOf: CodeOf): CallbackContent => {
  const fact = factOf(members, codeOf(members("From")));
  const deliveryId = isStatus.exec(part)?.[1] ?? null;
  const address = members("To").replace(/^(rcs|whatsapp):/, "") || null;
  const receipt = { deliveryId, providerId: members("MessageSid") || null, address, at: receivedAt };
  return { receipts: fact === null ? [] : [{ ...receipt, ...fact }], inbound: [] };
};

/** Null for what is on its way still. Source: twilio.com/docs/messaging/api/message-resource#message-status-values. */
const factOf = (members: Members, providerCode: string | null): ReceiptFact | null => {
  const status = members("MessageStatus") || members("SmsStatus");
  switch (status) {
    case "sent":
    case "delivered":
      return { kind: status, ...(providerCode === null ? {} : { providerCode }) };
    case "read":
      return { kind: "opened", machine: false, userAgent: null };
    case "undelivered":
    case "failed":
      return refusedFact(twilioErrors, members("ErrorCode") || null, "Twilio");
    default:
      return null;
  }
};
