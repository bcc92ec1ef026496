import { createHmac } from "node:crypto";
import type { Receipt, ReceiptFact } from "../../domain/messages/receipts.ts";
import {
  accepted,
  type CallbackContent,
  type CallbackDefinition,
  isSame,
  maxCallbackItems,
  refused,
  UnreadableCallback,
  unknown,
  type Verdict,
} from "../kit/callbacks.ts";
import { refusedFact } from "../kit/refusals.ts";
import { metaErrors } from "./errors.ts";
import { inboundIn } from "./inbound.ts";
import { instantOf, keptMessageId, numberOf } from "./values.ts";

type Account = { phone_number_id: string | null; app_secret: string | null; verify_token: string | null };

/**
 * Meta's callbacks about one business phone number, whose id is the last part of their path. They name no instant that
 * is signed: one that is repeated says nothing new, because receipts only move forward and sessions end by the instants
 * of the messages. Source: developers.facebook.com, WhatsApp Business Platform, "Create a webhook endpoint" and
 * "messages webhook reference".
 */
export const meta: CallbackDefinition<Account> = {
  verify: ({ method, part, url, header, body }, { account }) => {
    const { phone_number_id: id, app_secret: secret, verify_token: token } = account;
    if (part !== id || secret === null || token === null) return unknown;
    if (method === "GET") return handshake(URL.parse(url)?.searchParams, token);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    return isSame(header("x-hub-signature-256") ?? "", `sha256=${signature}`) ? accepted : refused;
  },
  read: ({ part, body }) => contentOf(valuesOf(body, part)),
};

const handshake = (query: URLSearchParams | undefined, token: string): Verdict => {
  const [mode, given, challenge] = ["mode", "verify_token", "challenge"].map((name) => query?.get(`hub.${name}`) ?? "");
  if (mode !== "subscribe" || !isSame(given ?? "", token)) return refused;
  return { kind: "answered", reply: { contentType: "text/plain", text: challenge ?? "" } };
};

/** An object of Meta's, whose members may be anything. */
type MetaObject = Record<string, unknown>;

/** What is said about one phone number; Meta puts those of a whole business account into one request. */
const valuesOf = (body: Buffer, phoneNumberId: string): MetaObject[] => {
  const entries = listOf(parse(body)["entry"]);
  const changes = entries.flatMap(({ changes: all }) => listOf(all)).filter(({ field }) => field === "messages");
  const values = changes.map(({ value }) => objectOf(value));
  return values.filter(({ metadata }) => objectOf(metadata)["phone_number_id"] === phoneNumberId);
};

const parse = (body: Buffer): MetaObject => {
  try {
    return objectOf(JSON.parse(body.toString("utf8")));
  } catch {
    throw new UnreadableCallback("is no JSON");
  }
};

const contentOf = (values: readonly MetaObject[]): CallbackContent => ({
  receipts: values.flatMap(({ statuses }) => listOf(statuses).flatMap(receiptsOf)).slice(0, maxCallbackItems),
  inbound: values.flatMap(inboundIn).slice(0, maxCallbackItems),
});

const receiptsOf = (status: MetaObject): Receipt[] => {
  const { id, biz_opaque_callback_data: data } = status;
  const at = instantOf(status);
  if (at === null || typeof id !== "string") return [];
  const deliveryId = typeof data === "string" && deliveryIdPattern.test(data) ? data : null;
  const common = { deliveryId, providerId: keptMessageId(id), address: numberOf(status["recipient_id"]), at };
  return factsOf(status).map((fact) => ({ ...common, ...fact }));
};

const deliveryIdPattern = /^dlv_[0-9A-HJKMNP-TV-Z]{26}$/;

/** A message that is read has been delivered, which Meta then may leave unsaid. */
const factsOf = ({ status, errors }: MetaObject): ReceiptFact[] => {
  switch (status) {
    case "sent":
    case "delivered":
      return [{ kind: status }];
    case "read":
      return [{ kind: "delivered" }, { kind: "opened", machine: false, userAgent: null }];
    case "failed":
      return [refusedFact(metaErrors, codeOf(listOf(errors)), "Meta")];
    default:
      return []; // `played`, and what Meta may add
  }
};

const codeOf = ([first]: readonly MetaObject[]): string | null =>
  typeof first?.["code"] === "number" ? String(first["code"]) : null;

const objectOf = (value: unknown): MetaObject =>
  typeof value === "object" && value !== null ? (value as MetaObject) : {}; // any object

const listOf = (value: unknown): MetaObject[] => (Array.isArray(value) ? value.map(objectOf) : []);
