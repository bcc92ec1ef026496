import { hash } from "node:crypto";
import { normalised } from "#core/channels/email/address.ts";
import { deliveryIdIn } from "#core/channels/email/callbacks/carried.ts";
import { plainText } from "#core/channels/email/plain-text.ts";
import { isAutomatic } from "#core/domain/conversations/automatic.ts";
import { partedText } from "#core/domain/conversations/quoted.ts";
import { dayMs } from "#core/domain/durations.ts";
import type { ReadMail } from "./worker.ts";

/** Of a mail what a conversation needs, before its thread and its files are known. */
export type PersonMail = {
  id: string;
  address: string;
  name: string | null;
  sender: string;
  at: Date;
  subject: string | null;
  text: string | null;
  quotedText: string | null;
  html: string | null;
  cc: string[];
  /** Message-IDs of the mails before it, the first of the thread first. */
  references: string[];
  replyTo: string | null;
};

/** Why a mail opens no conversation: nobody who could be answered wrote it. */
export type NoMail = "automatic" | "own" | "unaddressed";

const most = { id: 255, name: 255, subject: 998, text: 16_384, html: 100_000, cc: 20 };

/**
 * What a mail to an app says; `own` is the address that the app sends from. Whatever it is, it came to the app: an address of
 * the app's domain among those that it names is the one that was written to. Source: docs/reference/mail.md.
 */
export const personMail = (
  mail: ReadMail,
  { mime, own, receivedAt }: { mime: Buffer; own: string; receivedAt: Date },
): PersonMail | NoMail => {
  const address = mail.from === null ? null : normalised(mail.from.address.trim());
  if (address === null) return "unaddressed";
  if (isAutomatic(mail.headers, address)) return "automatic";
  const sender = ownIn([...mail.to, ...mail.cc], own);
  const id = bare(mail.messageId) ?? `${hash("sha256", mime, "hex")}@no-message-id`;
  if (address === sender || address === normalised(own) || deliveryIdIn(id) !== null) return "own";
  const { text, quoted } = partedText(mail.text ?? textOf(mail.html));
  const replyTo = bare(mail.inReplyTo?.match(/<[^<>\s]+>/)?.[0] ?? mail.inReplyTo);
  return {
    id,
    address,
    name: cut(mail.from?.name ?? null, most.name),
    sender,
    at: instantOf(mail.date, receivedAt),
    subject: cut(mail.subject?.replace(/\p{Cc}+/gu, " ") ?? null, most.subject), // it goes into a head again
    text: cut(text, most.text),
    quotedText: cut(quoted, most.text),
    html: cut(mail.html, most.html),
    cc: mail.cc.flatMap((one) => normalised(one.trim()) ?? []).slice(0, most.cc),
    references: [...new Set([...mail.references.flatMap((one) => bare(one) ?? []), ...(replyTo ? [replyTo] : [])])],
    replyTo,
  };
};

/** The address of the app that a mail names, else the one that it sends from. */
const ownIn = (named: readonly string[], own: string): string => {
  const from = normalised(own) ?? own;
  const domain = from.slice(from.lastIndexOf("@"));
  const found = named.flatMap((one) => normalised(one.trim()) ?? []);
  return found.find((one) => one === from) ?? found.find((one) => one.endsWith(domain)) ?? from;
};

/** A Message-ID without its brackets; null for one that is too long to be found again, or is none (RFC 5322 3.6.4). */
const bare = (given: string | null | undefined): string | null => {
  const id = (given ?? "").trim().replace(/^<|>$/g, "");
  return id.length <= most.id && /^[!-;=?-~]+$/.test(id) ? id : null;
};

const textOf = (html: string | null): string => (html === null ? "" : plainText(html));

const cut = (given: string | null, length: number): string | null =>
  given === null || given.trim() === "" ? null : given.slice(0, length);

/** When it was written, as far as that is believed: clocks of people are wrong. */
const instantOf = (date: Date | null, receivedAt: Date): Date => {
  const age = date === null ? Number.NaN : receivedAt.getTime() - date.getTime();
  return date !== null && age >= 0 && age < dayMs ? date : receivedAt;
};
