import type { ReceiptFact } from "../../../domain/messages/receipts.ts";

/** What is said of a mail that was refused. */
export type Refusal = {
  /** As RFC 3463 has it, such as 5.1.1; null when it is not known. */
  status: string | null;
  /** As it is shown, such as `550 5.1.1 user unknown`. */
  providerCode: string | null;
  /** What the provider makes of it, where its status says nothing. */
  isHard: boolean;
};

/**
 * Whose fault it is that a mail was refused: only an answer that names the mailbox itself is a hard bounce, whatever the
 * provider calls it. Source: RFC 3463 3, docs/reference/channels.md#gone-addresses.
 */
export const refusalFact = ({ status, providerCode, isHard }: Refusal): ReceiptFact => {
  const code = status ?? "";
  if (/^\d\.7\.\d+$/.test(code)) return errored("SPAM_REJECTED", providerCode, "refused by policy or as spam");
  if (/^\d\.6\.\d+$/.test(code)) return errored("CONTENT_BLOCKED", providerCode, "the mail server refuses the content");
  if (/^\d\.(2\.3|3\.4)$/.test(code)) return errored("PAYLOAD_TOO_LARGE", providerCode, "too large for the mailbox");
  if (/^\d\.2\.2$/.test(code)) return bounced("soft", "MAILBOX_FULL", providerCode, "the mailbox is full");
  if (/^5\.(1\.(1|2|3|6|10)|2\.1)$/.test(code)) return hardBounce(providerCode);
  return isHard ? hardBounce(providerCode) : bounced("soft", "SOFT_BOUNCE", providerCode, "the mail bounced for now");
};

export const hardBounce = (providerCode: string | null): ReceiptFact =>
  bounced("hard", "HARD_BOUNCE", providerCode, "there is no such mailbox");

/** Reported, or opted out, at the provider. */
export const complained: ReceiptFact = { kind: "complained", source: "provider", reason: null };
export const unsubscribed: ReceiptFact = {
  kind: "unsubscribed",
  source: "provider",
  reason: null,
  categories: null,
};

type Code = "SPAM_REJECTED" | "CONTENT_BLOCKED" | "PAYLOAD_TOO_LARGE" | "MAILBOX_FULL" | "HARD_BOUNCE" | "SOFT_BOUNCE";

const bounced = (type: "hard" | "soft", code: Code, providerCode: string | null, reason: string): ReceiptFact => ({
  kind: "bounced",
  type,
  code,
  providerCode,
  reason,
});

/** Content, set-up or reputation of the sender were refused: the address is not to blame. */
export const errored = (
  code: Code | "PROVIDER_REJECTED",
  providerCode: string | null,
  reason: string,
): ReceiptFact => ({ kind: "errored", code, providerCode, reason });

/** The enhanced status in the words of a mail server; null when there is none. */
export const statusIn = (text: string | null): string | null =>
  /(?:^|[\s-])([245]\.\d{1,3}\.\d{1,3})(?=$|[\s,;:)])/.exec(text ?? "")?.[1] ?? null;
