import { domainToASCII } from "node:url";
import { callbackify } from "node:util";
import { createTransport, type SendMailOptions, type Transport } from "nodemailer";
import type { EmailMessage } from "#core/channels/email/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { NotBegun, type Outcome, type Provider, type Recipient } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { type SmtpError, smtpOutcome } from "./smtp-outcomes.ts";
import type { SmtpServer } from "./smtp-session.ts";
import { type Handing, type Leave, type SmtpSessions, smtpSessions } from "./smtp-sessions.ts";

export type SmtpAccount = SmtpServer & {
  from: { name: string | null; address: string };
  /** Signs each mail (RFC 6376); `privateKey` is PEM. */
  dkim: { domain: string; selector: string; privateKey: string } | null;
};

export type SmtpDeps = {
  account: SmtpAccount;
  clock: Clock;
  /** For one mail, from connecting to the server's last reply. */
  timeoutMs?: number;
  sessions?: number;
};

/**
 * For one mail, unless the program's grace is shorter. A server may look through a mail before it answers: RFC 5321 4.5.3.2
 * admits minutes, but what is not answered by the end of the grace is lost.
 */
export const smtpTimeoutMs = 45_000;

/** Sends mails over an account's SMTP server. */
export const smtp = ({ account, clock, timeoutMs = smtpTimeoutMs, sessions = 8 }: SmtpDeps): Provider<EmailMessage> => {
  const open = smtpSessions(account, { sessions, timeoutMs });
  const mailer = createTransport(over(open));
  const mails = underWay();
  const send: Provider<EmailMessage>["send"] = async (message, to, signal, isOver = () => false): Promise<Outcome> => {
    if (signal.aborted) throw new NotBegun();
    const mail = mailOf(account, message, to);
    const given: Given = { ...mail, signal, isOver };
    const handing = await mailer.sendMail(given).catch((error: unknown): Handing => {
      if (error instanceof NotBegun || signal.aborted) throw new NotBegun();
      return { kind: "failed", error, reached: "nothing" }; // it could not be composed
    });
    if (handing.kind === "accepted") return { kind: "sent", providerId: queueIdOf(handing.response) ?? mail.messageId };
    return smtpOutcome(handing.error as SmtpError, handing.reached, clock.now()); // its members are all optional
  };
  return {
    name: "smtp",
    origins: { of: domainOf, spare: Math.max(1, sessions / 4) },
    send: (...given) => mails.add(send(...given)),
    close: async () => {
      await mails.settled();
      open.close();
    },
  };
};

/** What nodemailer hands on to our transport as it came. */
type Given = SendMailOptions & Leave;

/** nodemailer composes and signs; our sessions carry it. */
const over = (sessions: SmtpSessions): Transport<Handing> & { supportsAbortSignal: true } => ({
  name: "herald",
  version: "1",
  supportsAbortSignal: true,
  send: ({ message, data }, done) => {
    const { signal, isOver } = data as Given; // sound: `send` above gives no other
    const handed = sessions.hand(message.getEnvelope(), () => message.createReadStream(), { signal, isOver });
    callbackify(() => handed)(done);
  },
});

const mailOf = ({ from, dkim }: SmtpAccount, message: EmailMessage, to: Recipient) => {
  const address = message.fromAddress ?? from.address;
  const sender = { name: message.fromName ?? from.name ?? "", address };
  return {
    from: sender,
    to: { name: "", address: to.address },
    envelope: { from: address, to: [{ name: "", address: to.address }] },
    ...(message.replyTo === null ? {} : { replyTo: { name: "", address: message.replyTo } }),
    subject: message.subject,
    text: message.text,
    html: message.html,
    messageId: `<${to.deliveryId}@${domainOf(address)}>`, // the same in every try, so that a receiver can tell a repeat
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null
      ? {}
      : { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.privateKey } }),
  };
};

/** In ASCII, as headers ask: RFC 5322 3.6.4. */
const domainOf = (address: string): string => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  return domainToASCII(domain) || domain;
};

/** The server's own name of the mail, in the words of the common servers. */
const queueIdOf = (response: string): string | null =>
  /(?:queued as|queued mail for delivery|id=|\bOk:?)\s*<?([\w.@-]{6,100})/i.exec(response)?.[1] ?? null;
