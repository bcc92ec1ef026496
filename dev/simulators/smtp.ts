import { hash } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Attachment, type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerEnvelope, type SMTPServerOptions } from "smtp-server";
import type { Certificate } from "./kit/certificate.ts";
import type { Simulator } from "./kit/control.ts";
import { checkDkim, type DkimKeys } from "./kit/dkim-check.ts";
import { mailProblem } from "./kit/mail-check.ts";
import { receivedLog } from "./kit/received.ts";
import { type Script, type ScriptedAnswer, scripted } from "./kit/script.ts";

export type SmtpSimulatorOptions = {
  port: number;
  /** Served by STARTTLS. */
  tls: Certificate;
  /** Who may log in; without it mail is taken from everyone. */
  login?: { username: string; password: string };
  dkim?: DkimKeys;
};

/** Where in the dialogue a scripted answer is given: its reason may begin with `AUTH:`, `MAIL:` or `DATA:`. */
type Stage = "AUTH" | "MAIL" | "RCPT" | "DATA";

/**
 * Stands in for a mail server: takes what it is sent, reads it with mailparser and checks DKIM; refuses what no server
 * should take (`mailProblem`). Scripted answers are
 * given to RCPT TO unless their reason says another stage, e.g. `{status: 554, reason: "DATA: 5.7.1 spam"}`.
 */
export const startSmtp = async ({ port, tls, login, dkim = {} }: SmtpSimulatorOptions): Promise<Simulator> => {
  const log = receivedLog();
  const sockets = new Set<Socket>();
  const script = scripted((next) => next.refuse_connections && cutAll(sockets));
  const refuse = (stage: Stage, address: string): Error | null => {
    const next = script.current().answers.find(({ address_prefix = "" }) => address.startsWith(address_prefix));
    const answer = next !== undefined && stageOf(next) === stage ? script.answerFor(address) : null;
    if (answer !== null && stage !== "AUTH") log.add(entry({ address, answer: said(answer), accepted: false }));
    return answer === null ? null : replyError(answer);
  };
  const server = new SMTPServer({
    ...dialogue(refuse, login),
    ...tls,
    onData: (stream, session, done) => {
      const take = async (): Promise<void> => {
        const mail = await mailOf(stream);
        if (mail === null) return;
        const address = session.envelope.rcptTo[0]?.address ?? "";
        const refused = refuse("DATA", address) ?? faulty(mail);
        if (refused === null) log.add(readEntry(session.envelope, await simpleParser(mail), checkDkim(mail, dkim)));
        answerData(() => done(refused), { script: script.current(), cut: () => cutOne(sockets, session.remotePort) });
      };
      void take();
    },
  });
  server.on("error", () => {}); // a cut link is what scripts are for
  server.server.prependListener("connection", (socket: Socket) => {
    if (script.current().refuse_connections) return socket.destroy();
    sockets.add(socket);
    return socket.once("close", () => sockets.delete(socket));
  });
  const url = `smtp://127.0.0.1:${await listen(server, port)}`;
  return { channel: "email", url, log, script: script.replace, stop: () => stop(server, sockets) };
};

const dialogue = (
  refuse: (stage: Stage, address: string) => Error | null,
  login: SmtpSimulatorOptions["login"],
): SMTPServerOptions => ({
  authOptional: login === undefined,
  logger: false,
  size: 10_485_760,
  closeTimeout: 100,
  disableReverseLookup: true,
  hideDSN: false,
  onAuth: ({ username = "", password }, _session, done) => {
    const refused = refuse("AUTH", username);
    if (refused !== null) return done(refused);
    const isKnown = username === login?.username && password === login.password;
    return isKnown ? done(null, { user: username }) : done(reply(535, "5.7.8 authentication failed"));
  },
  onMailFrom: ({ address }, _session, done) => done(refuse("MAIL", address)),
  onRcptTo: ({ address }, _session, done) => done(refuse("RCPT", address)),
});

const faulty = (mail: string): Error | null => {
  const problem = mailProblem(mail);
  return problem === null ? null : reply(554, `5.6.0 ${problem}`);
};

/** What a client sends as a mail; null where it left in the middle of it. */
const mailOf = (stream: Readable): Promise<string | null> =>
  buffer(stream).then(
    (mail) => mail.toString("utf8"),
    () => null,
  );

const stageOf = ({ reason }: ScriptedAnswer): Stage => {
  const [, stage] = /^(AUTH|MAIL|DATA):/.exec(reason) ?? [];
  return (stage as Stage | undefined) ?? "RCPT"; // the pattern admits stages only
};

const textOf = ({ reason }: ScriptedAnswer): string => reason.replace(/^(AUTH|MAIL|DATA): */, "");
const said = (answer: ScriptedAnswer): string => `${answer.status} ${textOf(answer)}`;
const replyError = (answer: ScriptedAnswer): Error => reply(answer.status, textOf(answer));
const reply = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

const answerData = (answer: () => void, { script, cut }: { script: Script; cut: () => void }): void => {
  if (script.reset_every > 0) cut();
  else if (script.delay_ms > 0) setTimeout(answer, script.delay_ms).unref();
  else answer();
};

const longest = 20_000; // kept of each text of a mail

const readEntry = ({ mailFrom, rcptTo, dsn }: SMTPServerEnvelope, mail: ParsedMail, dkim: string) => {
  const address = rcptTo[0]?.address ?? "";
  const lineOf = (name: string): string =>
    mail.headerLines
      .find(({ key }) => key === name)
      ?.line.replace(/^[^:]+:\s*/, "")
      .replace(/\r?\n\s*/g, " ") ?? "";
  const headers = {
    "message-id": mail.messageId ?? "",
    from: mail.from?.text ?? "",
    "in-reply-to": mail.inReplyTo ?? "",
    references: [mail.references ?? []].flat().join(" "),
    "reply-to": mail.replyTo?.text ?? "",
    "return-path": mailFrom === false ? "" : mailFrom.address,
    dsn: `${dsn?.ret ?? ""} ${dsn?.envid ?? ""}`,
    "list-unsubscribe": lineOf("list-unsubscribe"),
    "list-unsubscribe-post": lineOf("list-unsubscribe-post"),
  };
  const body = JSON.stringify({
    subject: mail.subject ?? "",
    text: mail.text?.slice(0, longest) ?? "",
    html: (mail.html || "").slice(0, longest),
    dkim,
    ...(mail.attachments.length > 0 && { files: mail.attachments.map(fileOf) }),
  });
  return { ...entry({ address, answer: "250 Ok", accepted: true }), key: mail.messageId ?? "", headers, body };
};

const fileOf = ({ filename, contentType, size, content }: Attachment) => ({
  filename,
  contentType,
  size,
  sha256: hash("sha256", content),
});

const entry = (of: { address: string; answer: string; accepted: boolean }) => ({
  ...of,
  key: "",
  headers: {},
  body: "",
});

const cutAll = (sockets: ReadonlySet<Socket>): void => {
  for (const socket of sockets) socket.destroy();
};

const cutOne = (sockets: ReadonlySet<Socket>, port: number): void => {
  for (const socket of sockets) if (socket.remotePort === port) socket.resetAndDestroy();
};

const listen = async (server: SMTPServer, port: number): Promise<number> => {
  const listening = Promise.withResolvers<void>();
  server.server.once("error", listening.reject);
  server.listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  return (server.server.address() as AddressInfo).port; // a TCP server's address is never a string
};

const stop = (server: SMTPServer, sockets: ReadonlySet<Socket>): Promise<void> => {
  const stopped = Promise.withResolvers<void>();
  server.close(() => stopped.resolve());
  cutAll(sockets);
  return stopped.promise;
};
