import { replyWords as words } from "#core/channels/email/reply-words.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { type Meaning, meant, type OutcomeTable, outcomeOf } from "../kit/outcomes.ts";
import { addressRefused } from "./smtp-session.ts";
import type { Reached } from "./smtp-sessions.ts";

/** The members of nodemailer's errors that tell what went wrong. */
export type SmtpError = {
  code?: string;
  originalCode?: string;
  /** The command that was answered: `CONN`, `MAIL FROM`, `RCPT TO`, `DATA`, `AUTH …`. */
  command?: string;
  responseCode?: number;
  response?: string;
};

/** Replies with a code of the mailbox, and those with no more than a number: many servers give both for anything. */
const vague = /\|5.. 5\.(1\.|2\.1\b)|^(RCPT TO|DATA)\|(550|551|553)$/;

const meaning = (kind: Meaning["kind"], code: DeliveryErrorCode, reason: string): Meaning => ({ kind, code, reason });

const mailboxGone = meaning("token_invalid", "HARD_BOUNCE", "there is no such mailbox");
const badAddress = meaning("token_invalid", "RECIPIENT_INVALID", "not a valid mail address");
const senderRefused = meaning("config_error", "PROVIDER_REJECTED", "the server refused the sender");
const refusedByPolicy = meaning("payload_error", "SPAM_REJECTED", "refused by policy or as spam");
const sendingLimited = meaning("retry_at", "PROVIDER_RATE_LIMITED", "the account may send no more for now");
const tooLarge = meaning("payload_error", "PAYLOAD_TOO_LARGE", "the mail is too large");
const loginRefused = meaning("config_error", "PROVIDER_AUTH", "the server refused the login");
const mailRefused = meaning("config_error", "PROVIDER_REJECTED", "the server does not take our mail");
const authFails = meaning("config_error", "PROVIDER_REJECTED", "the sender's SPF, DKIM or DMARC fails");
const noRelay = meaning("config_error", "PROVIDER_REJECTED", "the server does not relay for this account");
const tooMuchMail = meaning("retry_at", "PROVIDER_RATE_LIMITED", "too much mail for this mailbox for now");

/** Meanings that are the provider's fault. */
const ofServer = (...given: Parameters<typeof meaning>): Meaning => ({ ...meaning(...given), fault: "provider" });

const unreadable = ofServer("retry_at", "PROVIDER_UNAVAILABLE", "the server answered out of turn");
const unreachable = ofServer("retry_at", "PROVIDER_UNAVAILABLE", "the server cannot be reached");
const noLogin = ofServer("config_error", "PROVIDER_AUTH", "the server has no usable login");
const untrusted = ofServer("config_error", "PROVIDER_REJECTED", "the server's certificate is not trusted");
const forbidden = ofServer(
  "config_error",
  "PROVIDER_REJECTED",
  "the server's address is private or local, and not allowed",
);
/** One that answered MAIL FROM and not RCPT TO asks the recipient's own server, as many relays do. */
const silent = meaning("retry_at", "TIMEOUT", "the server did not answer in time");

/**
 * Patterns are matched against `<command>|<reply> <enhanced>`, e.g. `RCPT TO|550 5.1.1`; the enhanced part may be missing.
 * Texts are the server's, from which addresses are removed. Only an answer that names the mailbox invalidates its address;
 * what is about the sender, a policy or the server leaves it alone.
 */
export const smtpTable: OutcomeTable = {
  sources: [
    "https://www.rfc-editor.org/rfc/rfc5321#section-4.2.3", // replies, and 4.3.2 by command
    "https://www.rfc-editor.org/rfc/rfc3463#section-3", // enhanced codes: 1 address, 2 mailbox, 3 system, 4 network, 5 protocol, 6 content, 7 policy
    "https://www.rfc-editor.org/rfc/rfc4954#section-6", // login
    "https://www.rfc-editor.org/rfc/rfc7372", // failed SPF, DKIM, DMARC
    "https://www.rfc-editor.org/rfc/rfc7505", // null MX
    "https://support.google.com/a/answer/3726730", // Google's SMTP errors: 5.2.1 and 5.4.5 of rates
  ],
  rows: [
    { on: /\|4.. 4\.2\.2/, kind: "retry_at", code: "MAILBOX_FULL", reason: "the mailbox is full" },
    { on: /\|4.. 4\.7/, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "deferred by policy" },
    { on: /\|452 4\.5\.3/, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "too many recipients for now" },
    { on: /\|(421|452|454)/, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", reason: "the server has no room now" },
    { on: /\|4/, kind: "retry_at", code: "SOFT_BOUNCE", reason: "deferred by the server" },

    { on: /^AUTH|\|(530|534|535|538)|^MAIL FROM\|5.. 5\.7\.[89]\b/, ...loginRefused },
    { on: /^(CONN|EHLO|HELO|STARTTLS)\|5/, ...mailRefused },
    { on: /\|5.. 5\.7\.2\d\b/, ...authFails },
    { on: /\|5/, says: [words.relay], ...noRelay },
    { on: /\|5.. 5\.4\.5\b/, ...sendingLimited },
    { on: /\|5/, says: [words.sendingQuota], ...sendingLimited },

    { on: /\|5.. 5\.(2\.3|3\.4)\b|^MAIL FROM\|552/, ...tooLarge },
    { on: /^MAIL FROM\|5|\|5.. 5\.1\.[78]\b/, ...senderRefused },
    { on: vague, says: [words.sender], ...senderRefused },
    { on: vague, says: [words.policy], ...refusedByPolicy },
    { on: /\|5.. 5\.2\.1\b/, says: [words.rate], ...tooMuchMail },
    { on: /\|5.. 5\.1\.3\b/, ...badAddress },
    { on: /\|5.. 5\.(1\.([126]|10)|2\.1)\b/, ...mailboxGone },
    { on: /\|(550|551|553)$/, says: [words.mailbox, words.absent], ...mailboxGone },
    { on: /\|5.. 5\.2\.2\b|\|552$/, kind: "payload_error", code: "MAILBOX_FULL", reason: "the mailbox is full" },
    { on: /\|5.. 5\.6/, kind: "payload_error", code: "CONTENT_BLOCKED", reason: "the server refused the content" },
    { on: /\|5.. 5\.7|^DATA\|(550|554)$/, ...refusedByPolicy },
    { on: /\|5/, kind: "payload_error", code: "PROVIDER_REJECTED", reason: "the server refused the mail" },
  ],
  otherwise: unreadable,
  refused: "the server refused the mail",
  // What every mail would be answered: while the session is made, that it ends, or that it needs another login.
  toEveryone: /^(CONN|EHLO|HELO|STARTTLS|AUTH)|\|(421|530|534|535|538)|^MAIL FROM\|4.. 4\.3/,
  // Greylisting opens after 5 minutes as a rule, and a full mailbox is not emptied in seconds.
  pausesMs: { SOFT_BOUNCE: 300_000, PROVIDER_RATE_LIMITED: 300_000, MAILBOX_FULL: 1_800_000 },
};

/** What a failed try means. */
export const smtpOutcome = (error: SmtpError, reached: Reached, now: Date): Outcome => {
  if (error.responseCode === undefined) return brokenOutcome(error, reached, now);
  const { command = "", responseCode, response = "" } = error;
  const enhanced = enhancedOf(response);
  const providerCode = enhanced === undefined ? String(responseCode) : `${responseCode} ${enhanced}`;
  const whole = `${command}|${providerCode}`;
  const text = response.slice(0, mostCharacters).replace(/<[^>]*>|\S+@\S+/g, "");
  return outcomeOf(smtpTable, { code: providerCode, whole, text }, now);
};

const mostCharacters = 1_000; // of a server's text: what it means stands at its beginning

/** The enhanced code behind the reply's number; qmail and its relatives write it at the end, as `(#5.1.1)`. */
const enhancedOf = (response: string): string | undefined =>
  (/^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? /\(#(\d\.\d{1,3}\.\d{1,3})\)\s*$/.exec(response))?.[1];

/** Errors without a reply of the server, by nodemailer's code. */
const brokenOutcome = ({ code = "", originalCode = "", command }: SmtpError, reached: Reached, now: Date): Outcome => {
  const outcome = (meaning: Meaning, shown: string | null = null): Outcome =>
    meant(meaning, { table: smtpTable, answer: { code: shown }, now });
  if (code === addressRefused) return outcome(forbidden);
  if (code === "EENVELOPE") return outcome(badAddress);
  if (code === "EMESSAGE" && command === "MAIL FROM") return outcome(tooLarge);
  if (code === "EAUTH" || code === "ENOAUTH") return outcome(noLogin);
  if (isCertificateError(originalCode)) return outcome(untrusted, originalCode);
  if (reached === "end") {
    return { kind: "uncertain", reason: "the connection was lost before the server's answer", fault: "provider" };
  }
  if (code !== "ETIMEDOUT") return outcome(unreachable, code || null);
  return outcome({ ...silent, fault: reached === "recipient" ? "origin" : "provider" }, code);
};

const isCertificateError = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
