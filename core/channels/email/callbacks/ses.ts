import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import type { Authorities } from "../../kit/authorities.ts";
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
import { instantOf, jsonOf, listOf, memberOf, textOf } from "../../kit/reading.ts";
import { isMachineAgent } from "../machines.ts";
import { errored, hardBounce, refusalFact, unsubscribed } from "./bounces.ts";
import { deliveryIdIn, mailAddress, receiptOf } from "./carried.ts";
import { snsMessage } from "./sns.ts";
import { snsCertificates } from "./sns-certificate.ts";

/** SNS tries again for an hour at most. */
const freshMs = 2 * 3_600_000;

/**
 * Events of Amazon SES, over an SNS topic. Sources: Amazon SES, "Contents of event data that Amazon SES publishes to
 * Amazon SNS", "Examples of event data …" (2026-11). The topic has to be the account's: everybody can have SNS sign.
 */
export const ses: CallbackDefinition<{ ses: { topic_arn: string } | null }> = {
  verify: ({ method, part, body }, { account, now }) => {
    if (account.ses === null || method !== "POST" || (part !== "" && part !== mailPart)) return unknown;
    const message = snsMessage(body);
    if (message === null) return refused;
    const isTheirs = isSame(message.topicArn, account.ses.topic_arn) && isFresh(message.timestamp, now, freshMs);
    return isTheirs ? accepted : refused;
  },
  certified: {
    addressOf: (body) => snsMessage(body)?.certificateUrl ?? null,
    problemOf: (body, { pem, trusted }) => {
      const message = snsMessage(body);
      if (message === null) return { of: "signature", reason: "it is no message of SNS" };
      const vouched = vouching(trusted)(pem, { topic: message.topic, at: message.timestamp });
      if ("problem" in vouched) return { of: "certificate", reason: vouched.problem };
      return message.isSigned(vouched.key) ? null : { of: "signature", reason: "another signed it" };
    },
  },
  read: ({ body }) => {
    const message = snsMessage(body);
    if (message === null) throw new UnreadableCallback("not a message of SNS");
    const { type, subscribeUrl } = message;
    if (type === "SubscriptionConfirmation" && subscribeUrl !== null)
      return { receipts: [], inbound: [], confirm: subscribeUrl };
    return { receipts: type === "Notification" ? receiptsOf(jsonOf(message.message)) : [], inbound: [] };
  },
  mail: (body) => {
    const message = snsMessage(body);
    return message?.type === "Notification" ? mailIn(jsonOf(message.message)) : null;
  },
};

/**
 * A mail that SES received, by its action that publishes to SNS: up to 150 KB. Mails with viruses are left out. Source: Amazon
 * SES, "Contents of notifications for Amazon SES email receiving".
 */
const mailIn = (event: unknown): Buffer | null => {
  const content = textOf(event, "content");
  if (textOf(event, "notificationType") !== "Received" || content === null) return null;
  if (textOf(event, "receipt", "virusVerdict", "status") === "FAIL") return null;
  const isBase64 = textOf(event, "receipt", "action", "encoding")?.toUpperCase() === "BASE64";
  return Buffer.from(content, isBase64 ? "base64" : "utf8");
};

const vouchers = new WeakMap<Authorities, ReturnType<typeof snsCertificates>>(); // each remembers what it judged

const vouching = (trusted: Authorities): ReturnType<typeof snsCertificates> => {
  const vouch = vouchers.get(trusted) ?? snsCertificates(trusted);
  vouchers.set(trusted, vouch);
  return vouch;
};

const receiptsOf = (event: unknown): Receipt[] => {
  const kind = textOf(event, "eventType") ?? textOf(event, "notificationType") ?? "";
  const messageIds = listOf(event, "mail", "headers").map((header) =>
    textOf(header, "name")?.toLowerCase() === "message-id" ? textOf(header, "value") : null,
  );
  const about = {
    deliveryId: deliveryIdIn(...messageIds),
    providerId: textOf(event, "mail", "messageId"),
    address: mailAddress(textOf({ of: listOf(event, "mail", "destination")[0] }, "of")),
  };
  const at = instantOf(event, memberNames[kind] ?? "", "timestamp") ?? instantOf(event, "mail", "timestamp");
  return receiptOf(about, at, factOf(kind, event));
};

/** Where an event of a kind has its own members. */
const memberNames: Readonly<Record<string, string>> = {
  Bounce: "bounce",
  Complaint: "complaint",
  Delivery: "delivery",
  Open: "open",
  Click: "click",
  Subscription: "subscription",
};

const factOf = (kind: string, event: unknown): ReceiptFact | null => {
  switch (kind) {
    case "Send":
      return { kind: "sent" };
    case "Delivery":
      return { kind: "delivered" };
    case "Open": {
      const userAgent = textOf(event, "open", "userAgent");
      return { kind: "opened", machine: isMachineAgent(userAgent), userAgent };
    }
    case "Click": {
      const machine = isMachineAgent(textOf(event, "click", "userAgent"));
      return { kind: "clicked", machine, url: textOf(event, "click", "link"), buttonId: null };
    }
    case "Bounce":
      return bounceOf(memberOf(event, "bounce"));
    case "Complaint":
      return { kind: "complained", source: "provider", reason: textOf(event, "complaint", "complaintFeedbackType") };
    case "Reject":
      return errored("CONTENT_BLOCKED", textOf(event, "reject", "reason"), "Amazon SES refuses the content");
    case "Subscription":
      return memberOf(event, "subscription", "newTopicPreferences", "unsubscribeAll") === true ? unsubscribed : null;
    default:
      return null; // a delay, or what nobody knows yet
  }
};

/** Source: Amazon SES, "Contents of event data …", "Bounce types". */
const bounceOf = (bounce: unknown): ReceiptFact => {
  const [recipient] = listOf(bounce, "bouncedRecipients");
  const subType = textOf(bounce, "bounceSubType") ?? "";
  const providerCode = textOf(recipient, "diagnosticCode")?.replace(/^smtp;\s*/i, "") ?? subType;
  const isPermanent = textOf(bounce, "bounceType") === "Permanent";
  if (subType === "UnsubscribedRecipient") return unsubscribed;
  if (["NoEmail", "Suppressed", "OnAccountSuppressionList"].includes(subType) && isPermanent)
    return hardBounce(providerCode);
  if (["ContentRejected", "AttachmentRejected"].includes(subType))
    return errored("CONTENT_BLOCKED", providerCode, "the mail server refuses the content");
  if (subType === "MessageTooLarge") return errored("PAYLOAD_TOO_LARGE", providerCode, "too large for the mailbox");
  const status = subType === "MailboxFull" ? "5.2.2" : textOf(recipient, "status");
  return refusalFact({ status, providerCode, isHard: isPermanent });
};
