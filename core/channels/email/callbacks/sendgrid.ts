import { createPublicKey, verify } from "node:crypto";
import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  accepted,
  type CallbackDefinition,
  isFresh,
  refused,
  UnreadableCallback,
  unknown,
} from "../../kit/callbacks.ts";
import { instantOf, jsonOf, memberOf, textOf } from "../../kit/reading.ts";
import { isMachineAgent } from "../machines.ts";
import { complained, errored, hardBounce, refusalFact, statusIn, unsubscribed } from "./bounces.ts";
import { carriedAs, deliveryIdIn, mailAddress, receiptOf } from "./carried.ts";

/** SendGrid tries again for 24 hours. */
const freshMs = 25 * 3_600_000;

/**
 * The Signed Event Webhook of Twilio SendGrid: ECDSA with SHA-256 over the timestamp and the raw body. Sources: Twilio
 * SendGrid, "Getting Started with the Event Webhook Security Features", "Event Webhook Reference" (2026-11).
 */
export const sendgrid: CallbackDefinition<{ sendgrid: { public_key: string } | null }> = {
  verify: ({ method, part, header, body }, { account, now }) => {
    if (account.sendgrid === null || method !== "POST" || part !== "") return unknown;
    const timestamp = header("x-twilio-email-event-webhook-timestamp") ?? "";
    const signature = header("x-twilio-email-event-webhook-signature") ?? "";
    const isInTime = /^\d{1,12}$/.test(timestamp) && isFresh(new Date(Number(timestamp) * 1_000), now, freshMs);
    const text = Buffer.concat([Buffer.from(timestamp), body]);
    return isInTime && isSigned(account.sendgrid.public_key, text, signature) ? accepted : refused;
  },
  read: ({ body }) => {
    const events = jsonOf(body);
    if (!Array.isArray(events)) throw new UnreadableCallback("not a list of events");
    return { receipts: events.flatMap(receiptsOf), inbound: [] };
  },
};

/** `publicKey` is base64 of its DER, as SendGrid shows it. */
const isSigned = (publicKey: string, text: Buffer, signature: string): boolean => {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    return verify("sha256", text, key, Buffer.from(signature, "base64"));
  } catch {
    return false; // the key is none
  }
};

const receiptsOf = (event: unknown): Receipt[] => {
  const about = {
    deliveryId: deliveryIdIn(textOf(event, carriedAs), textOf(event, "smtp-id")),
    providerId: textOf(event, "sg_message_id"),
    address: mailAddress(textOf(event, "email")),
  };
  return receiptOf(about, instantOf(event, "timestamp"), factOf(event));
};

const factOf = (event: unknown): ReceiptFact | null => {
  switch (textOf(event, "event") ?? "") {
    case "processed":
      return { kind: "sent" };
    case "delivered":
      return { kind: "delivered" };
    case "open": {
      const machine = memberOf(event, "sg_machine_open") === true || isOfMachine(event);
      return { kind: "opened", machine, userAgent: textOf(event, "useragent") };
    }
    case "click":
      return { kind: "clicked", machine: isOfMachine(event), url: textOf(event, "url"), buttonId: null };
    case "bounce":
      return bounceOf(event);
    case "dropped":
      return dropOf(textOf(event, "reason") ?? "");
    case "spamreport":
      return complained;
    case "unsubscribe":
      return unsubscribed;
    default:
      return null; // deferred: it is tried again; groups of SendGrid's own
  }
};

const isOfMachine = (event: unknown): boolean => isMachineAgent(textOf(event, "useragent"));

/** `bounce_classification` says whose fault it is. Source: Twilio SendGrid, "Bounce and Block Classifications". */
const bounceOf = (event: unknown): ReceiptFact => {
  const providerCode = textOf(event, "reason");
  switch (textOf(event, "bounce_classification")?.toLowerCase() ?? "") {
    case "invalid address":
      return hardBounce(providerCode);
    case "content":
      return errored("CONTENT_BLOCKED", providerCode, "the mail server refuses the content");
    case "reputation":
    case "frequency or volume too high":
      return errored("SPAM_REJECTED", providerCode, "refused by policy or as spam");
    default: {
      const status = statusIn(textOf(event, "status")) ?? statusIn(providerCode);
      return refusalFact({ status, providerCode, isHard: textOf(event, "type") === "bounce" });
    }
  }
};

/** Why SendGrid itself sent nothing. Source: Twilio SendGrid, "Event Webhook Reference", dropped events. */
const dropOf = (reason: string): ReceiptFact => {
  if (/^bounced address/i.test(reason)) return hardBounce(reason);
  if (/^spam report/i.test(reason)) return complained;
  if (/^unsubscribed address/i.test(reason)) return unsubscribed;
  if (/^invalid$|^invalid address/i.test(reason))
    return {
      kind: "failed",
      code: "RECIPIENT_INVALID",
      providerCode: reason,
      reason: "not a valid mail address",
      suppress: "invalid_address",
    };
  if (/^spam content/i.test(reason)) return errored("CONTENT_BLOCKED", reason, "SendGrid refuses the content");
  return errored("PROVIDER_REJECTED", reason, "SendGrid refuses the mail");
};
