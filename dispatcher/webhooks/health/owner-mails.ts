import type { Transporter } from "nodemailer";
import type { WebhookNotice } from "#core/domain/webhooks/health.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { ownerMailText } from "./owner-mail-text.ts";

/**
 * `done`: the mail server has the mail, or there is nobody to mail; `later`: this mailbox takes none now; `server_away`:
 * no mailbox does.
 */
export type Mailed = "done" | "later" | "server_away";

export type OwnerMailsDeps = {
  /** Null: nobody is mailed. `url` may contain a password. */
  server: { url: string; from: string } | null;
  /** Address and name of the app's owner; null when there is none. */
  recipient: (tenantId: string) => Promise<string | null>;
  appName: (appId: string) => Promise<string>;
  lastErrorClass: (endpointId: string) => Promise<WebhookErrorClass | null>;
  log: Log;
};

/** Mails the owners of endpoints that fail or were disabled. */
export const ownerMails = (deps: OwnerMailsDeps) => {
  const { server, recipient, log } = deps;
  if (server === null) log.info("owner_mails.off");
  const mailer = server === null ? null : mailerFor(server.url);
  return {
    mail: async (row: WebhookRow, notice: WebhookNotice): Promise<Mailed> => {
      const facts = { tenant: row.tenant_id, app: row.app_id, endpoint: row._id, notice };
      const to = mailer === null ? null : await recipient(row.tenant_id);
      if (server === null || mailer === null || to === null) {
        const reason = mailer === null ? "no mail server is set" : "the tenant has no contact address";
        log.info({ ...facts, reason }, "webhook.owner_not_mailed");
        return "done";
      }
      const content = await mailOf(deps, row, notice);
      const failure = await mailer
        .send({ ...content, ...envelopeOf(server.from, to), signal: AbortSignal.timeout(mailTimeoutMs) })
        .then(() => null, failureOf);
      if (failure === null) log.info(facts, "webhook.owner_mailed");
      else log.warn({ ...facts, ...failure }, "webhook.owner_not_mailed");
      return failure?.mailed ?? "done";
    },
    close: (): void => mailer?.close(),
  };
};

/** nodemailer as a whole is loaded with the first mail. */
const mailerFor = (url: string) => {
  let transport: Transporter | undefined;
  return {
    send: async (mail: Mail): Promise<void> => {
      transport ??= (await import("nodemailer")).createTransport(optionsOf(url));
      await transport.sendMail(mail);
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

const mailOf = async (deps: OwnerMailsDeps, row: WebhookRow, notice: WebhookNotice) => {
  const [app, errorClass] = await Promise.all([deps.appName(row.app_id), deps.lastErrorClass(row._id)]);
  const domain = deps.server?.from.split("@").at(-1) ?? "";
  const since = row.failing_since ?? row.last_failure_at ?? row.updated_at;
  return {
    ...ownerMailText({ row, notice, app, errorClass }),
    messageId: `<${row._id}.${notice}.${since.getTime()}@${domain}>`, // so that a repeat after a kill is recognised
    headers: { "auto-submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

const envelopeOf = (from: string, to: string) => ({
  from: { name: "Herald", address: from },
  to: { name: "", address: to },
});

/** Members of nodemailer's errors. */
type MailError = { code?: string; responseCode?: number };

/** A permanent refusal of this mail ends the attempt; after a temporary one, or when the server is away, it is mailed later. */
const failureOf = (error: unknown): { mailed: Mailed; code: string | null; status: number | null } => {
  const { code = null, responseCode: status = null } = error as MailError; // every member is optional
  const isOfMail = code === "EENVELOPE" || code === "EMESSAGE";
  const mailed = isOfMail && status !== null ? (status >= 500 ? "done" : "later") : "server_away";
  return { mailed, code, status };
};
