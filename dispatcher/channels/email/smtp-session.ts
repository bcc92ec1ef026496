import type { Readable } from "node:stream";
import { getCACertificates } from "node:tls";
import SmtpConnection, { type SMTPEnvelope } from "nodemailer/lib/smtp-connection";
import type { GuardedClient } from "../../net/guarded/client.ts";

/** The code of the error when the server's address is one that nobody may connect to. */
export const addressRefused = "EADDRESSREFUSED";

export type SmtpServer = {
  host: string;
  port: number;
  /** `starttls` never goes on unencrypted. */
  security: "starttls" | "tls" | "none";
  login: { username: string; password: string } | null;
  /** A further certificate authority, PEM. */
  ca?: string;
};

export type SmtpSession = ReturnType<typeof session>;

/** Connects, greets, upgrades to TLS and logs in. Rejects with the error of nodemailer, or with one like it. */
export const openSession = async (server: SmtpServer, connect: Connect, limit: AbortSignal): Promise<SmtpSession> => {
  const socket = await connect(server, AbortSignal.any([limit, AbortSignal.timeout(connectMs)]));
  if ("errorClass" in socket) throw connectError(socket);
  const connection = new SmtpConnection({ ...optionsOf(server), connection: socket });
  connection.on("error", () => {}); // what is under way gets it too; an idle connection only ends
  const step = <T>(start: (done: Done<T>) => void): Promise<T | undefined> => bounded(connection, limit, start);
  await step<void>((done) => connection.connect((error) => done(error ?? null)));
  const { login } = server;
  if (login !== null) {
    await step((done) => connection.login({ user: login.username, pass: login.password }, done));
  }
  return session(connection);
};

/** Makes connections to servers that tenants name, where that is allowed: `GuardedClient["connect"]`. */
export type Connect = GuardedClient["connect"];

const connectMs = 10_000;

const connectError = ({ reason, errorClass }: Extract<Awaited<ReturnType<Connect>>, { errorClass: unknown }>): Error =>
  Object.assign(new Error(reason), { code: connectCodes[errorClass] ?? "ESOCKET" });

/** As nodemailer calls them, and a name of our own for what is not allowed. */
const connectCodes: Readonly<Record<string, string>> = {
  dns: "EDNS",
  connect_timeout: "ETIMEDOUT",
  address_refused: addressRefused,
};

/** A connection that is greeted and logged in. Every wait ends when `limit` aborts; the connection is then closed. */
const session = (connection: SmtpConnection) => ({
  /** Hands over one message; returns the server's last reply. Rejects with the error of nodemailer. */
  hand: async (envelope: SMTPEnvelope, message: Readable, limit: AbortSignal): Promise<string> => {
    connection.lastServerResponse = false;
    const noted: Noted = { ...envelope };
    const info = await bounded<{ response: string }>(connection, limit, (done) =>
      connection.send(noted, message, done),
    ).catch((error: unknown) => Promise.reject(refusalIn(noted) ?? error));
    return info?.response ?? "";
  },
  /** Makes the session ready for the next message after a refused one. */
  reset: async (limit: AbortSignal): Promise<void> =>
    void (await bounded<boolean>(connection, limit, (done) => connection.reset(done))),
  isOpen: (): boolean => !connection.destroyed,
  /** Whether the server has answered since the last message was begun. */
  hasAnswered: (): boolean => connection.lastServerResponse !== false,
  /** Ends the session with QUIT. */
  quit: (): void => connection.quit(),
  close: (): void => connection.close(),
});

/**
 * With PIPELINING nodemailer keeps the refusals of MAIL FROM and RCPT TO with the envelope until DATA is answered. A server
 * that closes instead of answering it has refused all the same.
 */
type Noted = SMTPEnvelope & { mailError?: Error; rejectedErrors?: Error[] };

const refusalIn = ({ mailError, rejectedErrors = [] }: Noted): Error | undefined => mailError ?? rejectedErrors[0];

type Done<T> = (error: Error | null, result?: T) => void;

/** Runs one step of a connection. It fails when the connection ends first, whether or not nodemailer calls back. */
const bounded = <T>(
  connection: SmtpConnection,
  limit: AbortSignal,
  start: (done: Done<T>) => void,
): Promise<T | undefined> => {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const fail = (error: unknown): void => reject(error);
  const end = (): void => {
    const closed = Object.assign(new Error("the connection was closed"), { code: "ECONNECTION" });
    setImmediate(fail, closed); // after a 421 nodemailer closes first and then tells what the server said
  };
  const abort = (): void => {
    fail(Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" }));
    connection.close();
  };
  connection.once("error", fail).once("end", end);
  limit.addEventListener("abort", abort, { once: true });
  if (limit.aborted) abort();
  else start((error, result) => (error ? fail(error) : resolve(result)));
  return promise.finally(() => {
    connection.off("error", fail).off("end", end);
    limit.removeEventListener("abort", abort);
  });
};

const optionsOf = ({ host, port, security, ca }: SmtpServer) => ({
  host,
  port,
  secure: security === "tls",
  requireTLS: security === "starttls",
  ignoreTLS: security === "none",
  greetingTimeout: 10_000,
  maxResponseSize: 65_536,
  ...(ca === undefined ? {} : { tls: { ca: [...getCACertificates(), ca] } }),
});
