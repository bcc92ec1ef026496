import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { smtpProvider } from "#core/channels/email/callbacks/smtp.ts";
import { mailBounds } from "#core/channels/email/mail-bounds.ts";
import { Unavailable } from "#core/errors.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Certificates } from "#core/runtime/tls/certificates.ts";
import { type SmtpLimits, smtpBounds } from "./limits.ts";
import { type MailTaking, SmtpRefusal } from "./take.ts";

export type SmtpListenerOptions = {
  host: string;
  port: number;
  domain: string;
  /** Null: mails come unencrypted. */
  certificates: Certificates | undefined;
  taking: MailTaking;
  limits: SmtpLimits;
  count: (outcome: "queued" | "answered" | "refused" | "unknown") => void;
  log: Log;
};

type Done = (error?: Error | null) => void;

/**
 * Takes mails of people over SMTP (RFC 5321) for the addresses of apps, and hands none on. A mail is answered 250 once it is
 * stored; until then its sender keeps it, so that a kill loses none. On stop no connection is taken any more, and what is in
 * hand gets some seconds.
 */
export const smtpListener = (options: SmtpListenerOptions): Part & { port: () => number } => {
  const { certificates, limits, log } = options;
  const ending = new AbortController();
  const [sessions, mails] = [sessionsOf(limits), mailsOf(options, ending.signal)];
  const server = new SMTPServer({
    ...bounds,
    name: options.domain,
    disabledCommands: certificates === undefined ? ["AUTH", "STARTTLS"] : ["AUTH"],
    onConnect: (session, done: Done) => {
      const isAdmitted = sessions.begin(session, () => closeSession(server, session));
      done(isAdmitted ? null : new SmtpRefusal(421, "4.7.0 too many connections of this address"));
    },
    onClose: sessions.end,
    ...mails,
  });
  const unfollow = certificates?.follow(({ cert, key }) => server.updateSecureContext({ cert, key }));
  server.on("error", (err: Error) => log.debug({ err }, "smtp.connection_failed")); // theirs: each is closed
  return {
    name: "smtp listener",
    port: () => (server.server.address() as AddressInfo | null)?.port ?? options.port, // sound: it listens on TCP only
    start: async () => {
      server.listen(options.port, options.host);
      await once(server.server, "listening");
    },
    stop: async () => {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      await stopped.promise;
      unfollow?.();
      ending.abort();
    },
  };
};

const bounds = {
  authOptional: true,
  logger: false,
  disableReverseLookup: true,
  size: mailBounds.bytes,
  maxClients: smtpBounds.connections,
  socketTimeout: smtpBounds.idleMs,
  closeTimeout: 5_000,
  hideENHANCEDSTATUSCODES: true, // those of ours stand in the words
};

/** Connections by their source, each with an end. */
const sessionsOf = (limits: SmtpLimits) => {
  const ends = new Map<string, NodeJS.Timeout>();
  return {
    begin: ({ id, remoteAddress: ip }: SMTPServerSession, close: () => void): boolean => {
      if (!limits.connect(ip)) return false;
      ends.set(id, setTimeout(close, smtpBounds.sessionMs).unref());
      return true;
    },
    end: ({ id, remoteAddress: ip }: SMTPServerSession): void => {
      if (!ends.has(id)) return; // it was not admitted
      clearTimeout(ends.get(id));
      ends.delete(id);
      limits.disconnect(ip);
    },
  };
};

const closeSession = ({ connections }: SMTPServer, { id }: SMTPServerSession): void => {
  for (const connection of connections) if (connection.id === id) connection.close();
};

const mailsOf = ({ taking, count, log }: SmtpListenerOptions, signal: AbortSignal) => {
  const answer = async (work: Promise<unknown>, done: Done): Promise<void> => {
    const refusal = await work.then(
      () => null,
      (error: unknown) => refusalOf(error, log),
    );
    if (refusal !== null) count(refusal.responseCode === 550 ? "unknown" : "refused");
    done(refusal);
  };
  return {
    onRcptTo: ({ address }: { address: string }, session: SMTPServerSession, done: Done): void => {
      const sender = { ip: session.remoteAddress, signal };
      void answer(taking.recipient(address, sender, session.envelope.rcptTo.length), done);
    },
    onData: (stream: SMTPServerDataStream, session: SMTPServerSession, done: Done): void => {
      const { mailFrom, rcptTo } = session.envelope;
      const envelope = {
        from: mailFrom === false ? "" : mailFrom.address,
        recipients: rcptTo.map(({ address }) => address),
      };
      void answer(taking.mail(envelope, stream, { ip: session.remoteAddress, signal }).then(count), done);
    },
  };
};

/** What is not judged is tried again by the sender: a store is away, or something is wrong here. */
const refusalOf = (error: unknown, log: Log): SmtpRefusal => {
  if (error instanceof SmtpRefusal) return error;
  if (!(error instanceof Unavailable)) log.error({ err: error, provider: smtpProvider }, "smtp.failed");
  return new SmtpRefusal(451, "4.3.0 not now, try again later");
};
