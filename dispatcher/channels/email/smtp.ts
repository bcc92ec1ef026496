import { Readable } from "node:stream";
import { domainOf } from "#core/channels/email/message-id.ts";
import type { Clock } from "#core/domain/clock.ts";
import { NotBegun, type Outcome, type Provider } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { type Composing, composed, envelopeOf, messageIdOf } from "./compose.ts";
import type { EncodedMail } from "./mime-body.ts";
import { type SmtpError, smtpOutcome } from "./smtp-outcomes.ts";
import { type Connect, openSession, type SmtpServer } from "./smtp-session.ts";
import { type Handing, logIn, type OpenSession, smtpSessions } from "./smtp-sessions.ts";

export type SmtpAccount = SmtpServer & Composing;

export type SmtpDeps = {
  account: SmtpAccount;
  connect: Connect;
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
export const smtp = ({
  account,
  connect,
  clock,
  timeoutMs = smtpTimeoutMs,
  sessions = 8,
}: SmtpDeps): Provider<EncodedMail> => {
  const openOne: OpenSession = (limit) => openSession(account, connect, limit);
  const open = smtpSessions(openOne, { sessions, timeoutMs });
  const mails = underWay();
  const send: Provider<EncodedMail>["send"] = async (message, to, signal, isOver = () => false): Promise<Outcome> => {
    if (signal.aborted) throw new NotBegun();
    const raw = () => streamed(composed(account, message, to)); // when it has its place: a mail may be large
    const handing = await open.hand(envelopeOf(account, message, to), raw, { signal, isOver }).catch(notComposed);
    return outcomeOf(handing, messageIdOf(account, message, to));
  };
  const outcomeOf = (handing: Handing, messageId: string | null): Outcome => {
    if (handing.kind === "accepted") return { kind: "sent", providerId: queueIdOf(handing.response) ?? messageId };
    return smtpOutcome(handing.error as SmtpError, handing.reached, clock.now()); // its members are all optional
  };
  return {
    name: "smtp",
    takes: { atOnce: 2 * sessions }, // as many are being stored, or wait to be next
    origins: { of: domainOf, spare: Math.max(1, sessions / 4) },
    send: (...given) => mails.add(send(...given)),
    check: (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return mails.add(logIn(openOne, limit).then((handing) => outcomeOf(handing, null)));
    },
    close: async () => {
      await mails.settled();
      open.close();
    },
  };
};

const notComposed = (error: unknown): Handing => {
  if (error instanceof NotBegun) throw error;
  return { kind: "failed", error, reached: "nothing" };
};

const chunkBytes = 16_384; // so that the stream ends when the link has taken nearly all of it

const streamed = (raw: Buffer): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(raw.length / chunkBytes) }, (_, i) =>
      raw.subarray(i * chunkBytes, (i + 1) * chunkBytes),
    ),
    { objectMode: false },
  );

/** The server's own name of the mail, in the words of the common servers. */
const queueIdOf = (response: string): string | null =>
  /(?:queued as|queued mail for delivery|id=|\bOk:?)\s*<?([\w.@-]{6,100})/i.exec(response)?.[1] ?? null;
