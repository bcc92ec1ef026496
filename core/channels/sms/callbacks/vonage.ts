import { createHmac, hash } from "node:crypto";
import type { ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  accepted,
  type Callback,
  type CallbackContent,
  type CallbackDefinition,
  type CallbackRequest,
  isFresh,
  isSame,
  refused,
  UnreadableCallback,
  unknown,
} from "../../kit/callbacks.ts";
import { refusedFact } from "../../kit/refusals.ts";
import { vonageErrors } from "../vonage-errors.ts";
import { inboundIn, vonageNumber } from "./vonage-inbound.ts";

/** A request that is older is refused: its token says when it was made. Vonage makes it again for a day. */
const maxAgeMs = 25 * 3_600_000;
const parts = ["status", "inbound"];

/**
 * Vonage's callbacks: statuses, which carry our delivery id as `client_ref`, and messages from people. Each comes with a
 * token (HS256) over the hash of its body.
 * Sources: developer.vonage.com, "Webhooks: Validating signed webhooks"; "Messages API: webhook reference".
 */
export const vonage: CallbackDefinition<{ vonage: { signature_secret: string } | null }> = {
  verify: (request, { account, now }) => {
    if (account.vonage === null || request.method !== "POST" || !parts.includes(request.part)) return unknown;
    return isSigned(request, account.vonage.signature_secret, now) ? accepted : refused;
  },
  read: (callback) => {
    const body = bodyOf(callback);
    return callback.part === "inbound"
      ? { receipts: [], inbound: inboundIn(body, callback.receivedAt) }
      : receiptIn(body, callback);
  },
};

const isSigned = (request: CallbackRequest, secret: string, now: Date): boolean => {
  const token = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(request.header("authorization") ?? "");
  const [, header = "", claims = "", signature = ""] = token ?? [];
  const wanted = createHmac("sha256", secret).update(`${header}.${claims}`).digest("base64url");
  if (token === null || !isSame(signature, wanted)) return false;
  const { iat, payload_hash: bodyHash } = claimsOf(claims);
  if (claimsOf(header)["alg"] !== "HS256" || typeof iat !== "number" || typeof bodyHash !== "string") return false;
  return isFresh(new Date(iat * 1000), now, maxAgeMs) && isSame(bodyHash.toLowerCase(), hash("sha256", request.body));
};

type Members = Record<string, unknown>;

/** An empty object for what is none. */
const claimsOf = (part: string): Members => {
  try {
    return Object(JSON.parse(Buffer.from(part, "base64url").toString("utf8"))) as Members; // members are checked one by one
  } catch {
    return {};
  }
};

const bodyOf = ({ body }: Callback): Members => {
  try {
    return Object(JSON.parse(body.toString("utf8"))) as Members; // members are checked one by one
  } catch (cause) {
    throw new UnreadableCallback("the body is no JSON", { cause });
  }
};

const textIn = (body: Members, name: string): string => (typeof body[name] === "string" ? body[name] : "");

const instantOf = (body: Members, otherwise: Date): Date => {
  const at = new Date(textIn(body, "timestamp"));
  return Number.isNaN(at.getTime()) ? otherwise : at;
};

const receiptIn = (body: Members, { receivedAt }: Callback): CallbackContent => {
  const fact = factOf(body);
  if (fact === null) return { receipts: [], inbound: [] };
  const [deliveryId, providerId] = [textIn(body, "client_ref") || null, textIn(body, "message_uuid") || null];
  const receipt = { deliveryId, providerId, address: vonageNumber(body, "to"), at: instantOf(body, receivedAt) };
  return { receipts: [{ ...receipt, ...fact }], inbound: [] };
};

/** Null for a status that is none of ours. */
const factOf = (body: Members): ReceiptFact | null => {
  switch (textIn(body, "status")) {
    case "submitted":
      return { kind: "sent" };
    case "delivered":
      return { kind: "delivered" };
    case "read":
      return { kind: "opened", machine: false, userAgent: null };
    case "rejected":
    case "undeliverable":
      return refusedFact(vonageErrors, errorIn(body), "Vonage");
    default:
      return null;
  }
};

/** The number at the end of the error's `type`, an address of Vonage's documentation. */
const errorIn = ({ error }: Members): string | null => {
  const { type } = Object(error) as Members; // checked below
  return typeof type === "string" ? (/([\w-]{1,40})$/.exec(type)?.[1] ?? null) : null;
};
