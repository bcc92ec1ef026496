import type { Transporter } from "nodemailer";

/**
 * `done`: the mail server has the mail, or never takes it; `later`: this mailbox takes none now; `server_away`: no mailbox
 * does.
 */
export type Mailed = "done" | "later" | "server_away";

/** The server that takes mails to owners. `url` may contain a password. */
export type MailServer = { url: string; from: string };

/** A mail to one person. `id` is the left part of its Message-ID, so that a repeat after a kill is recognised. */
export type OwnerMail = { to: string; id: string; subject: string; text: string };

export type MailFailure = { mailed: Mailed; code: string | null; status: number | null };

/** Sends mails to owners; null when one is sent, else why not. nodemailer as a whole is loaded with the first mail. */
export const mailerFor = ({ url, from }: MailServer) => {
  let transport: Transporter | undefined;
  const domain = from.split("@").at(-1) ?? "";
  return {
    send: async ({ to, id, subject, text }: OwnerMail): Promise<MailFailure | null> => {
      transport ??= (await import("nodemailer")).createTransport(optionsOf(url));
      const mail: Mail = {
        subject,
        text,
        from: { name: "Herald", address: from },
        to: { name: "", address: to },
        messageId: `<${id}@${domain}>`,
        headers: { "auto-submitted": "auto-generated" },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.timeout(mailTimeoutMs),
      };
      return transport.sendMail(mail).then(() => null, failureOf);
    },
    close: (): void => transport?.close(),
  };
};

type Mail = Parameters<Transporter["sendMail"]>[0];

const stepTimeoutMs = 10_000;
const mailTimeoutMs = 30_000; // within the grace of a program that stops

/** A password never goes over a connection that could not be encrypted. */
const optionsOf = (url: string) => ({
  url,
  requireTLS: new URL(url).password !== "",
  connectionTimeout: stepTimeoutMs,
  greetingTimeout: stepTimeoutMs,
  socketTimeout: stepTimeoutMs,
  dnsTimeout: stepTimeoutMs,
});

/** Members of nodemailer's errors. */
type MailError = { code?: string; responseCode?: number };

/** A permanent refusal of this mail ends the attempt; after a temporary one, or when the server is away, it is mailed later. */
const failureOf = (error: unknown): MailFailure => {
  const { code = null, responseCode: status = null } = error as MailError; // every member is optional
  const isOfMail = code === "EENVELOPE" || code === "EMESSAGE";
  const mailed = isOfMail && status !== null ? (status >= 500 ? "done" : "later") : "server_away";
  return { mailed, code, status };
};
