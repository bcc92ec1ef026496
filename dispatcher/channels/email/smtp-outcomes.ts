import type { Fault, Outcome, OutcomeKind } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
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

type Rule = {
  /** Matched against `<command>|<reply> <enhanced>`, e.g. `RCPT TO|550 5.1.1`; the enhanced part may be missing. */
  when: RegExp;
  /** What the server's text, from which addresses are removed, must be about besides. */
  says?: readonly (keyof typeof words)[];
  kind: Exclude<OutcomeKind, "sent" | "uncertain">;
  code: DeliveryErrorCode;
  reason: string;
};

/** Replies with a code of the mailbox, and those with no more than a number: many servers give both for anything. */
const vague = /\|5.. 5\.(1\.|2\.1\b)|^(RCPT TO|DATA)\|(550|551|553)$/;

/** What a text is about. A server's own words say more than the code beside them. */
const words = {
  relay: /\brelay(ing|ed)?\b|rcpthosts/i,
  sender: /\bsender|\bfrom address|return.?path|out(going|bound)|\b(helo|ehlo)\b|\bspf\b|dkim|dmarc|authenticat/i,
  sendingQuota: /\b(sending|daily|hourly)\b.{0,40}\b(limit|quota|rate)/i,
  rate: /\brate\b|too (quick|fast|many)/i,
  policy:
    /(black|block|deny).?list|(?<!not )\blisted\b|\brbl\b|dnsbl|spam|barracuda|reputation|policy|block(ed|ing)|\bbanned|denied|prohibited|abuse/i,
  mailbox: /\b(mail ?box|user|recipient|account|address(ee)?|alias)\b/i,
  absent:
    /unknown|no such|not (found|exist|local|allowed|valid|listed)|n[o']t exist|invalid|unavailable|unrout|disabled|inactive|no longer|\bno (mail ?box|user|account)|closed|deleted|moved/i,
};

const mailboxGone = { kind: "token_invalid", code: "HARD_BOUNCE", reason: "there is no such mailbox" } as const;
const senderRefused = {
  kind: "config_error",
  code: "PROVIDER_REJECTED",
  reason: "the server refused the sender",
} as const;
const refusedByPolicy = {
  kind: "payload_error",
  code: "SPAM_REJECTED",
  reason: "refused by policy or as spam",
} as const;
const sendingLimited = {
  kind: "retry_at",
  code: "PROVIDER_RATE_LIMITED",
  reason: "the account may send no more for now",
} as const;
const tooLarge = { kind: "payload_error", code: "PAYLOAD_TOO_LARGE", reason: "the mail is too large" } as const;
const loginRefused = { kind: "config_error", code: "PROVIDER_AUTH", reason: "the server refused the login" } as const;

/**
 * The first rule that matches a refusal decides. Only an answer that names the mailbox invalidates its address; what is
 * about the sender, a policy or the server leaves it alone. Sources: RFC 5321 4.2.3 and 4.3.2 (replies by command),
 * RFC 3463 3 (enhanced codes: 1 address, 2 mailbox, 3 system, 4 network, 5 protocol, 6 content, 7 policy), RFC 4954 6
 * (login), RFC 7372 (failed SPF, DKIM, DMARC), RFC 7505 (null MX); Google "SMTP error reference" (5.2.1 and 5.4.5 of
 * rates).
 */
const rules: Rule[] = [
  { when: /\|4.. 4\.2\.2/, kind: "retry_at", code: "MAILBOX_FULL", reason: "the mailbox is full" },
  { when: /\|4.. 4\.7/, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "deferred by policy" },
  { when: /\|452 4\.5\.3/, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "too many recipients for now" },
  { when: /\|(421|452|454)/, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", reason: "the server has no room now" },
  { when: /\|4/, kind: "retry_at", code: "SOFT_BOUNCE", reason: "deferred by the server" },

  { when: /^AUTH|\|(530|534|535|538)|^MAIL FROM\|5.. 5\.7\.[89]\b/, ...loginRefused },
  {
    when: /^(CONN|EHLO|HELO|STARTTLS)\|5/,
    kind: "config_error",
    code: "PROVIDER_REJECTED",
    reason: "the server does not take our mail",
  },
  {
    when: /\|5.. 5\.7\.2\d\b/,
    kind: "config_error",
    code: "PROVIDER_REJECTED",
    reason: "the sender's SPF, DKIM or DMARC fails",
  },
  {
    when: /\|5/,
    says: ["relay"],
    kind: "config_error",
    code: "PROVIDER_REJECTED",
    reason: "the server does not relay for this account",
  },
  { when: /\|5.. 5\.4\.5\b/, ...sendingLimited },
  { when: /\|5/, says: ["sendingQuota"], ...sendingLimited },

  { when: /\|5.. 5\.(2\.3|3\.4)\b|^MAIL FROM\|552/, ...tooLarge },
  { when: /^MAIL FROM\|5|\|5.. 5\.1\.[78]\b/, ...senderRefused },
  { when: vague, says: ["sender"], ...senderRefused },
  { when: vague, says: ["policy"], ...refusedByPolicy },
  {
    when: /\|5.. 5\.2\.1\b/,
    says: ["rate"],
    kind: "retry_at",
    code: "PROVIDER_RATE_LIMITED",
    reason: "too much mail for this mailbox for now",
  },
  { when: /\|5.. 5\.1\.3\b/, kind: "token_invalid", code: "RECIPIENT_INVALID", reason: "not a valid mail address" },
  { when: /\|5.. 5\.(1\.([126]|10)|2\.1)\b/, ...mailboxGone },
  { when: /\|(550|551|553)$/, says: ["mailbox", "absent"], ...mailboxGone },
  { when: /\|5.. 5\.2\.2\b|\|552$/, kind: "payload_error", code: "MAILBOX_FULL", reason: "the mailbox is full" },
  { when: /\|5.. 5\.6/, kind: "payload_error", code: "CONTENT_BLOCKED", reason: "the server refused the content" },
  { when: /\|5.. 5\.7|^DATA\|(550|554)$/, ...refusedByPolicy },
  { when: /\|5/, kind: "payload_error", code: "PROVIDER_REJECTED", reason: "the server refused the mail" },
];

/** What a failed try means. */
export const smtpOutcome = (error: SmtpError, reached: Reached, now: Date): Outcome => {
  if (error.responseCode === undefined) return brokenOutcome(error, reached, now);
  const { command = "", responseCode, response = "" } = error;
  const enhanced = enhancedOf(response);
  const providerCode = enhanced === undefined ? String(responseCode) : `${responseCode} ${enhanced}`;
  const subject = `${command}|${providerCode}`;
  const text = response.slice(0, mostCharacters).replace(/<[^>]*>|\S+@\S+/g, "");
  const isAbout = (subjects: Rule["says"] = []): boolean => subjects.every((one) => words[one].test(text));
  const rule = rules.find(({ when, says }) => when.test(subject) && isAbout(says)) ?? unreadable;
  return outcome(everyMail.test(subject) ? { ...rule, fault: "provider" } : rule, providerCode, now);
};

/** What every mail would be answered: while the session is made, that it ends, or that it needs another login. */
const everyMail = /^(CONN|EHLO|HELO|STARTTLS|AUTH)|\|(421|530|534|535|538)|^MAIL FROM\|4.. 4\.3/;

const mostCharacters = 1_000; // of a server's text: what it means stands at its beginning

/** The enhanced code behind the reply's number; qmail and its relatives write it at the end, as `(#5.1.1)`. */
const enhancedOf = (response: string): string | undefined =>
  (/^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? /\(#(\d\.\d{1,3}\.\d{1,3})\)\s*$/.exec(response))?.[1];

const unreadable: Judged = {
  kind: "retry_at",
  code: "PROVIDER_UNAVAILABLE",
  reason: "the server answered out of turn",
  fault: "provider",
};

type Judged = Omit<Rule, "when" | "says"> & { fault?: Fault };

const outcome = ({ kind, code, reason, fault: blamed }: Judged, providerCode: string | null, now: Date): Outcome => {
  const refusal = { code, providerCode, reason };
  const fault = blamed === undefined ? {} : { fault: blamed };
  if (kind === "config_error") return { kind, ...refusal, ...fault };
  if (kind !== "retry_at") return { kind, ...refusal };
  return { kind, ...refusal, ...fault, at: new Date(now.getTime() + (pausesMs[code] ?? 10_000)) };
};

/** Before a retry: greylisting opens after 5 minutes as a rule, a full mailbox is not emptied in seconds. */
const pausesMs: Partial<Record<DeliveryErrorCode, number>> = {
  SOFT_BOUNCE: 300_000,
  PROVIDER_RATE_LIMITED: 300_000,
  MAILBOX_FULL: 1_800_000,
};

/** Errors without a reply of the server, by nodemailer's code. */
const brokenOutcome = ({ code = "", originalCode = "", command }: SmtpError, reached: Reached, now: Date): Outcome => {
  if (code === "EENVELOPE") return outcome(unusableAddress, null, now);
  if (code === "EMESSAGE" && command === "MAIL FROM") return outcome(tooLarge, null, now);
  if (code === "EAUTH" || code === "ENOAUTH") return outcome(noLogin, null, now);
  if (isCertificateError(originalCode)) return outcome(untrusted, originalCode, now);
  if (reached === "end") {
    return { kind: "uncertain", reason: "the connection was lost before the server's answer", fault: "provider" };
  }
  if (code !== "ETIMEDOUT") return outcome(unreachable, code || null, now);
  return outcome({ ...silent, fault: reached === "recipient" ? "origin" : "provider" }, code, now);
};

const unusableAddress: Judged = {
  kind: "token_invalid",
  code: "RECIPIENT_INVALID",
  reason: "not a valid mail address",
};
const noLogin: Judged = {
  kind: "config_error",
  code: "PROVIDER_AUTH",
  reason: "the server offers no usable login",
  fault: "provider",
};
const untrusted: Judged = {
  kind: "config_error",
  code: "PROVIDER_REJECTED",
  reason: "the server's certificate is not trusted",
  fault: "provider",
};
const unreachable: Judged = {
  kind: "retry_at",
  code: "PROVIDER_UNAVAILABLE",
  reason: "the server cannot be reached",
  fault: "provider",
};
/** One that answered MAIL FROM and not RCPT TO asks the recipient's own server, as many relays do. */
const silent: Judged = { kind: "retry_at", code: "TIMEOUT", reason: "the server did not answer in time" };

const isCertificateError = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
