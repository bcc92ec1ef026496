import type { WebhookNotice } from "#core/domain/webhooks/health.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Mailed, type MailServer, mailerFor } from "../../work/mailer.ts";
import { ownerMailText } from "./owner-mail-text.ts";

export type OwnerMailsDeps = {
  /** Null: nobody is mailed. */
  server: MailServer | null;
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
  const mailer = server === null ? null : mailerFor(server);
  return {
    mail: async (row: WebhookRow, notice: WebhookNotice): Promise<Mailed> => {
      const facts = { tenant: row.tenant_id, app: row.app_id, endpoint: row._id, notice };
      const to = mailer === null ? null : await recipient(row.tenant_id);
      if (mailer === null || to === null) {
        const reason = mailer === null ? "no mail server is set" : "the tenant has no contact address";
        log.info({ ...facts, reason }, "webhook.owner_not_mailed");
        return "done";
      }
      const content = await mailOf(deps, row, notice);
      const failure = await mailer.send({ ...content, to });
      if (failure === null) log.info(facts, "webhook.owner_mailed");
      else log.warn({ ...facts, ...failure }, "webhook.owner_not_mailed");
      return failure?.mailed ?? "done";
    },
    close: (): void => mailer?.close(),
  };
};

const mailOf = async (deps: OwnerMailsDeps, row: WebhookRow, notice: WebhookNotice) => {
  const [app, errorClass] = await Promise.all([deps.appName(row.app_id), deps.lastErrorClass(row._id)]);
  const since = row.failing_since ?? row.last_failure_at ?? row.updated_at;
  return {
    ...ownerMailText({ row, notice, app, errorClass }),
    id: `${row._id}.${notice}.${since.getTime()}`,
  };
};
