import { createHmac } from "node:crypto";
import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  accepted,
  type CallbackDefinition,
  isFresh,
  isSame,
  mailPart,
  refused,
  UnreadableCallback,
  unknown,
} from "../../kit/callbacks.ts";
import { instantOf, jsonOf, memberOf, textOf } from "../../kit/reading.ts";
import { formMembers } from "../mail-form.ts";
import { complained, hardBounce, refusalFact, statusIn, unsubscribed } from "./bounces.ts";
import { deliveryIdIn, mailAddress, receiptOf } from "./carried.ts";

/** Mailgun tries again for 8 hours. */
const freshMs = 9 * 3_600_000;

/**
 * Webhooks of Mailgun: HMAC-SHA256 over timestamp and token, which do not cover the event itself: the first event that
 * comes with them is the one that counts. Sources: Mailgun, "Webhooks", "Securing Webhooks", "Events" (2026-11).
 */
export const mailgun: CallbackDefinition<{ mailgun: { signing_key: string } | null }> = {
  verify: ({ method, part, body }, { account, now }) => {
    const isMail = part === mimePart;
    if (account.mailgun === null || method !== "POST" || (part !== "" && !isMail)) return unknown;
    if (isMail && !formMembers(body).has(mimeMember)) return unknown; // a route to another address
    const { timestamp, token, signature } = isMail ? signatureInForm(body) : signatureOf(jsonOf(body));
    const at = new Date(Number(timestamp) * 1_000);
    const isInTime = /^\d{1,12}$/.test(timestamp) && isFresh(at, now, freshMs);
    const wanted = createHmac("sha256", account.mailgun.signing_key)
      .update(timestamp + token)
      .digest("hex");
    if (!isInTime || !isSame(signature, wanted)) return refused;
    return { ...accepted, once: { signature: wanted, until: new Date(at.getTime() + freshMs) } };
  },
  read: ({ body, part }) => {
    if (part === mimePart) return { receipts: [], inbound: [] };
    const event = memberOf(jsonOf(body), "event-data");
    if (event === undefined) throw new UnreadableCallback("without event-data");
    return { receipts: receiptsOf(event), inbound: [] };
  },
  mail: (body) => formMembers(body).get(mimeMember) ?? null,
};

const mimeMember = "body-mime";

/** Where a route of Mailgun's forwards mails to: to an address that ends so it sends them as they came. Source: Mailgun, "Routes". */
const mimePart = `${mailPart}/mime`;

const signatureInForm = (body: Buffer) => {
  const members = formMembers(body);
  const of = (name: string): string => members.get(name)?.toString("utf8", 0, 200) ?? "";
  return { timestamp: of("timestamp"), token: of("token"), signature: of("signature") };
};

const signatureOf = (given: unknown) => ({
  timestamp: textOf(given, "signature", "timestamp") ?? "",
  token: textOf(given, "signature", "token") ?? "",
  signature: textOf(given, "signature", "signature") ?? "",
});

const receiptsOf = (event: unknown): Receipt[] => {
  const messageId = textOf(event, "message", "headers", "message-id");
  const about = {
    deliveryId: deliveryIdIn(messageId),
    providerId: messageId,
    address: mailAddress(textOf(event, "recipient")),
  };
  return receiptOf(about, instantOf(event, "timestamp"), factOf(event));
};

const factOf = (event: unknown): ReceiptFact | null => {
  const machine = textOf(event, "client-info", "bot") !== null;
  switch (textOf(event, "event") ?? "") {
    case "accepted":
      return { kind: "sent" };
    case "delivered":
      return { kind: "delivered" };
    case "opened":
      return { kind: "opened", machine, userAgent: textOf(event, "client-info", "user-agent") };
    case "clicked":
      return { kind: "clicked", machine, url: textOf(event, "url"), buttonId: null };
    case "complained":
      return complained;
    case "unsubscribed":
      return unsubscribed;
    case "failed":
      return textOf(event, "severity") === "permanent" ? failureOf(event) : null; // else it is tried again
    default:
      return null;
  }
};

/** Source: Mailgun, "Tracking Failures" (`reason`, `delivery-status`). */
const failureOf = (event: unknown): ReceiptFact => {
  const said = memberOf(event, "delivery-status");
  const message = textOf(said, "message") ?? textOf(said, "description");
  const code = memberOf(said, "code");
  const providerCode = [typeof code === "number" ? String(code) : "", message ?? ""].join(" ").trim() || null;
  switch (textOf(event, "reason") ?? "") {
    case "suppress-bounce":
      return hardBounce(providerCode);
    case "suppress-complaint":
      return complained;
    case "suppress-unsubscribe":
      return unsubscribed;
    default: {
      const status = statusIn(textOf(said, "enhanced-code")) ?? statusIn(message);
      const isHard = textOf(event, "reason") === "bounce" && [550, 551, 553].includes(Number(code));
      return refusalFact({ status, providerCode, isHard });
    }
  }
};
