import { expect } from "chai";
import { type Fault, faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import { type DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { type SmtpError, smtpOutcome } from "../../../../../dispatcher/channels/email/smtp-outcomes.ts";
import type { Reached } from "../../../../../dispatcher/channels/email/smtp-sessions.ts";

const now = new Date("2026-11-21T12:00:00Z");

type Row = { at: string; says: string; kind: OutcomeKind; code: DeliveryErrorCode; waits?: number; fault?: Fault };

const replies: Row[] = [
  { at: "RCPT TO", says: "452 4.2.2 over quota", kind: "retry_at", code: "MAILBOX_FULL", waits: 1800 },
  { at: "RCPT TO", says: "450 4.7.1 greylisted", kind: "retry_at", code: "PROVIDER_RATE_LIMITED", waits: 300 },
  {
    at: "DATA",
    says: "421 4.7.28 unusual rate",
    kind: "retry_at",
    code: "PROVIDER_RATE_LIMITED",
    waits: 300,
    fault: "provider",
  },
  { at: "RCPT TO", says: "452 4.5.3 too many recipients", kind: "retry_at", code: "PROVIDER_RATE_LIMITED", waits: 300 },
  {
    at: "MAIL FROM",
    says: "421 4.3.2 shutting down",
    kind: "retry_at",
    code: "PROVIDER_UNAVAILABLE",
    waits: 10,
    fault: "provider",
  },
  {
    at: "MAIL FROM",
    says: "452 4.3.1 no storage",
    kind: "retry_at",
    code: "PROVIDER_UNAVAILABLE",
    waits: 10,
    fault: "provider",
  },
  {
    at: "AUTH PLAIN",
    says: "454 4.3.0 try later",
    kind: "retry_at",
    code: "PROVIDER_UNAVAILABLE",
    waits: 10,
    fault: "provider",
  },
  { at: "RCPT TO", says: "450 4.2.1 busy", kind: "retry_at", code: "SOFT_BOUNCE", waits: 300 },
  { at: "DATA", says: "451 local error", kind: "retry_at", code: "SOFT_BOUNCE", waits: 300 },

  {
    at: "AUTH PLAIN",
    says: "535 5.7.8 bad credentials",
    kind: "config_error",
    code: "PROVIDER_AUTH",
    fault: "provider",
  },
  { at: "AUTH LOGIN", says: "500 what", kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" },
  { at: "MAIL FROM", says: "530 5.7.0 must login", kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" },
  {
    at: "MAIL FROM",
    says: "534 5.7.9 stronger mechanism",
    kind: "config_error",
    code: "PROVIDER_AUTH",
    fault: "provider",
  },
  { at: "MAIL FROM", says: "538 encryption required", kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" },
  { at: "CONN", says: "554 no service", kind: "config_error", code: "PROVIDER_REJECTED", fault: "provider" },
  { at: "CONN", says: "521 does not accept mail", kind: "config_error", code: "PROVIDER_REJECTED", fault: "provider" },
  { at: "EHLO", says: "550 go away", kind: "config_error", code: "PROVIDER_REJECTED", fault: "provider" },
  { at: "STARTTLS", says: "502 not implemented", kind: "config_error", code: "PROVIDER_REJECTED", fault: "provider" },
  { at: "DATA", says: "550 5.7.26 unauthenticated", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "DATA", says: "550 5.7.23 SPF", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "554 5.7.1 Relay access denied", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "MAIL FROM", says: "550 5.1.8 sender domain", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "MAIL FROM", says: "553 sender not owned", kind: "config_error", code: "PROVIDER_REJECTED" },

  { at: "MAIL FROM", says: "552 5.3.4 too big", kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  { at: "MAIL FROM", says: "552 size limit", kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  { at: "DATA", says: "552 5.3.4 too big", kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  { at: "RCPT TO", says: "550 5.2.3 longer than allowed", kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  { at: "RCPT TO", says: "552 5.2.2 mailbox full", kind: "payload_error", code: "MAILBOX_FULL" },
  { at: "RCPT TO", says: "552 over quota", kind: "payload_error", code: "MAILBOX_FULL" },
  { at: "RCPT TO", says: "550 5.1.1 no such user", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "DATA", says: "550 5.1.1 no such user", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 5.1.2 no such domain", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "553 5.1.3 bad syntax", kind: "token_invalid", code: "RECIPIENT_INVALID" },
  { at: "RCPT TO", says: "550 5.1.6 moved", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 5.1.10 null MX", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "556 5.1.10 no mail", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 5.2.1 disabled", kind: "token_invalid", code: "HARD_BOUNCE" },
  {
    at: "RCPT TO",
    says: "550 sorry, no mailbox here by that name (#5.1.1)",
    kind: "token_invalid",
    code: "HARD_BOUNCE",
  },
  { at: "RCPT TO", says: "550 <a@b.test>: User unknown", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 No such user here", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 account has been disabled", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "DATA", says: "550 mailbox not found", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "550 mailbox unavailable", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "551 user not local", kind: "token_invalid", code: "HARD_BOUNCE" },
  { at: "RCPT TO", says: "553 mailbox name not allowed", kind: "token_invalid", code: "HARD_BOUNCE" },
  {
    at: "RCPT TO",
    says: "550 5.1.1 <spam@b.test>: Recipient address rejected: User unknown",
    kind: "token_invalid",
    code: "HARD_BOUNCE",
  },
  { at: "DATA", says: "554 5.6.0 bad MIME", kind: "payload_error", code: "CONTENT_BLOCKED" },
  { at: "DATA", says: "554 5.7.1 spam", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 5.7.1 blocked", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "DATA", says: "554 5.7.9 policy", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "DATA", says: "550 no", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 5.4.1 refused", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "554 failed", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "521 no mail here", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "DATA", says: "503 out of order", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "DATA", says: "250 is no error", kind: "retry_at", code: "PROVIDER_UNAVAILABLE", waits: 10, fault: "provider" },
];

/** Answers that are about the sender, a policy or the server, though many have a code of the address. */
const blameless: Row[] = [
  { at: "RCPT TO", says: "550 5.1.0 address rejected", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.1.4 ambiguous", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "553 5.1.7 bad sender syntax", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.1.8 sender domain", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "DATA", says: "550 5.1.8 access denied, bad outbound sender", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.4.4 no route", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.4.1 Recipient address rejected", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 unknown", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 rejected", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "551 go elsewhere", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "553 not allowed", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "501 syntax", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "556 no mail", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.0.0 rejected", kind: "payload_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 your address is on our black list", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 user blocked by blocklist", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 5.1.1 client listed by DNSBL", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 Service unavailable; Spamhaus", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 mailbox refuses: poor reputation", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 recipient refuses spam", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 not delivered by local policy", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "RCPT TO", says: "550 unable to relay to user", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "553 not in my rcpthosts (#5.7.1)", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 sender address rejected: user unknown", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.1.1 Sender user unknown", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.1.2 from address domain", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 account of sender suspended", kind: "config_error", code: "PROVIDER_REJECTED" },
  { at: "RCPT TO", says: "550 5.7.1 user unknown or blocked", kind: "payload_error", code: "SPAM_REJECTED" },
  { at: "DATA", says: "550 5.4.5 daily quota", kind: "retry_at", code: "PROVIDER_RATE_LIMITED", waits: 300 },
  { at: "MAIL FROM", says: "550 5.4.5 daily quota", kind: "retry_at", code: "PROVIDER_RATE_LIMITED", waits: 300 },
  {
    at: "RCPT TO",
    says: "550 daily sending quota of this account exceeded",
    kind: "retry_at",
    code: "PROVIDER_RATE_LIMITED",
    waits: 300,
  },
  {
    at: "RCPT TO",
    says: "550 5.2.1 The user is receiving mail at a rate that prevents delivery",
    kind: "retry_at",
    code: "PROVIDER_RATE_LIMITED",
    waits: 300,
  },
  {
    at: "RCPT TO",
    says: "550 5.2.1 The user is receiving mail too quickly",
    kind: "retry_at",
    code: "PROVIDER_RATE_LIMITED",
    waits: 300,
  },
];

describe("a reply of a mail server", () => {
  for (const { at, says, kind, code, waits, fault = null } of [...replies, ...blameless]) {
    it(`${says} to ${at} is ${kind} ${code}`, () => {
      const responseCode = Number(says.slice(0, 3));
      const outcome = smtpOutcome({ code: "EENVELOPE", command: at, responseCode, response: says }, "recipient", now);
      expect(outcome).to.include({ kind, code });
      expect(outcome).to.have.property("providerCode", said(says));
      const seconds = outcome.kind === "retry_at" ? (outcome.at.getTime() - now.getTime()) / 1000 : undefined;
      expect(seconds).to.equal(waits);
      expect(faultOf(outcome)).to.equal(fault);
    });
  }
});

/** The code of a reply with its enhanced one, which qmail puts at the end. */
const said = (says: string): string =>
  [says.slice(0, 3), /^\d{3} (\d\.\d+\.\d+)|\(#(\d\.\d+\.\d+)\)$/.exec(says)?.slice(1).join("")]
    .filter(Boolean)
    .join(" ");

type Break = {
  it: string;
  error: SmtpError;
  reached?: Reached;
  kind: OutcomeKind;
  code?: DeliveryErrorCode;
  fault?: Fault | null;
};

const breaks: Break[] = [
  {
    it: "a refused connection",
    error: { code: "ESOCKET", originalCode: "ECONNREFUSED" },
    kind: "retry_at",
    code: "PROVIDER_UNAVAILABLE",
  },
  { it: "a name that is not found", error: { code: "EDNS" }, kind: "retry_at", code: "PROVIDER_UNAVAILABLE" },
  {
    it: "an address that is not allowed",
    error: { code: "EADDRESSREFUSED" },
    kind: "config_error",
    code: "PROVIDER_REJECTED",
  },
  { it: "a server that is silent", error: { code: "ETIMEDOUT" }, kind: "retry_at", code: "TIMEOUT" },
  {
    it: "a server that is silent at the recipient",
    error: { code: "ETIMEDOUT" },
    reached: "recipient",
    kind: "retry_at",
    code: "TIMEOUT",
    fault: "origin",
  },
  {
    it: "a link that broke before the mail",
    error: { code: "ECONNECTION" },
    kind: "retry_at",
    code: "PROVIDER_UNAVAILABLE",
  },
  { it: "a link that broke after the mail", error: { code: "ECONNECTION" }, reached: "end", kind: "uncertain" },
  { it: "a server that is silent after the mail", error: { code: "ETIMEDOUT" }, reached: "end", kind: "uncertain" },
  {
    it: "a certificate that is not trusted",
    error: { code: "ESOCKET", originalCode: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    kind: "config_error",
    code: "PROVIDER_REJECTED",
  },
  {
    it: "a certificate of another host",
    error: { code: "ETLS", originalCode: "ERR_TLS_CERT_ALTNAME_INVALID" },
    kind: "config_error",
    code: "PROVIDER_REJECTED",
  },
  {
    it: "a login that the server does not know",
    error: { code: "EAUTH" },
    kind: "config_error",
    code: "PROVIDER_AUTH",
  },
  {
    it: "an address that cannot be said in SMTP",
    error: { code: "EENVELOPE", command: "API" },
    kind: "token_invalid",
    code: "RECIPIENT_INVALID",
    fault: null,
  },
  {
    it: "a mail larger than the server announced",
    error: { code: "EMESSAGE", command: "MAIL FROM" },
    kind: "payload_error",
    code: "PAYLOAD_TOO_LARGE",
    fault: null,
  },
];

describe("a mail that got no reply", () => {
  for (const { it: name, error, reached = "nothing", kind, code, fault = "provider" } of breaks) {
    it(`because of ${name} is ${kind}`, () => {
      const outcome = smtpOutcome(error, reached, now);
      expect(outcome.kind).to.equal(kind);
      expect(faultOf(outcome)).to.equal(fault);
      if (code !== undefined) expect(outcome).to.have.property("code", code);
    });
  }
});
