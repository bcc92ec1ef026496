import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  accepted,
  type CallbackDefinition,
  isSame,
  refused,
  UnreadableCallback,
  unknown,
} from "../../kit/callbacks.ts";
import { instantOf, jsonOf, memberOf, textOf } from "../../kit/reading.ts";
import { isMachineAgent } from "../machines.ts";
import { complained, errored, refusalFact, statusIn, unsubscribed } from "./bounces.ts";
import { carriedAs, deliveryIdIn, mailAddress, receiptOf } from "./carried.ts";

/**
 * Webhooks of Postmark, which signs nothing: it sends the name and password that are part of the address it was given.
 * Sources: Postmark, "Webhooks overview", "Delivery", "Bounce", "Spam complaint", "Open tracking", "Click" and
 * "Subscription change webhook" (2026-11).
 */
export const postmark: CallbackDefinition<{ postmark: { username: string; password: string } | null }> = {
  verify: ({ method, part, header }, { account }) => {
    if (account.postmark === null || method !== "POST" || part !== "") return unknown;
    const { username, password } = account.postmark;
    const [, given = ""] = /^Basic +(\S+)$/i.exec(header("authorization") ?? "") ?? [];
    return isSame(Buffer.from(given, "base64"), `${username}:${password}`) ? accepted : refused;
  },
  read: ({ body }) => {
    const event = jsonOf(body);
    if (textOf(event, "RecordType") === null) throw new UnreadableCallback("without RecordType");
    return { receipts: receiptsOf(event), inbound: [] };
  },
};

const receiptsOf = (event: unknown): Receipt[] => {
  const about = {
    deliveryId: deliveryIdIn(textOf(event, "Metadata", carriedAs)),
    providerId: textOf(event, "MessageID"),
    address: mailAddress(textOf(event, "Recipient") ?? textOf(event, "Email")),
  };
  const instants = ["DeliveredAt", "BouncedAt", "ReceivedAt", "ChangedAt"].map((name) => instantOf(event, name));
  return receiptOf(about, instants.find((at) => at !== null) ?? null, factOf(event));
};

const factOf = (event: unknown): ReceiptFact | null => {
  switch (textOf(event, "RecordType") ?? "") {
    case "Delivery":
      return { kind: "delivered" };
    case "Open":
      return { kind: "opened", machine: isOfMachine(event), userAgent: textOf(event, "UserAgent") };
    case "Click":
      return { kind: "clicked", machine: isOfMachine(event), url: textOf(event, "OriginalLink"), buttonId: null };
    case "SpamComplaint":
      return complained;
    case "Bounce":
      return bounceOf(event);
    case "SubscriptionChange":
      return isOptOut(event) ? unsubscribed : null;
    default:
      return null;
  }
};

const isOfMachine = (event: unknown): boolean => isMachineAgent(textOf(event, "UserAgent"));

/** Of the others a bounce or complaint is told besides. */
const isOptOut = (event: unknown): boolean =>
  memberOf(event, "SuppressSending") === true && textOf(event, "SuppressionReason") === "ManualSuppression";

/** Source: Postmark, "Bounce API", "Bounce types". */
const bounceOf = (event: unknown): ReceiptFact | null => {
  const details = textOf(event, "Details");
  const providerCode = details ?? textOf(event, "Type");
  switch (textOf(event, "Type") ?? "") {
    case "HardBounce":
      return refusalFact({ status: statusIn(details), providerCode, isHard: true });
    case "BadEmailAddress":
      return {
        kind: "failed",
        code: "RECIPIENT_INVALID",
        providerCode,
        reason: "not a valid mail address",
        suppress: "invalid_address",
      };
    case "SpamComplaint":
      return complained;
    case "Unsubscribe":
      return unsubscribed;
    case "SpamNotification":
    case "Blocked":
    case "DMARCPolicy":
      return errored("SPAM_REJECTED", providerCode, "refused by policy or as spam");
    case "SMTPApiError":
    case "TemplateRenderingFailed":
    case "ManuallyDeactivated":
      return errored("PROVIDER_REJECTED", providerCode, "Postmark refuses the mail");
    case "SoftBounce":
    case "DnsError":
    case "Unknown":
      return refusalFact({ status: statusIn(details), providerCode, isHard: false });
    default:
      return null; // delays, and answers of programs
  }
};
