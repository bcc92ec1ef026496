import type { Db } from "mongodb";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { type Mailed, type MailServer, mailerFor } from "../work/mailer.ts";

export type WarehouseMailsDeps = { db: Db; mail: MailServer | null; log: Log };

export type WarehouseMails = ReturnType<typeof warehouseMails>;

/** Mails the contact of a tenant whose export fails, or was paused because it failed for 14 days. */
export const warehouseMails = ({ db, mail: server, log }: WarehouseMailsDeps) => {
  const mailer = server === null ? null : mailerFor(server);
  const contactOf = async (tenantId: string): Promise<string | null> => {
    const tenant = await collectionOf<TenantRow>(db, tenantCollection).findOne({ _id: tenantId });
    return tenant?.contact_email ?? null;
  };
  const appName = async (id: string): Promise<string> =>
    (await collectionOf<AppRow>(db, appCollection).findOne({ _id: id }))?.name ?? id;
  return {
    /** May be called again with the same notice: the mail has the same id. */
    mail: async (row: WarehouseExportRow): Promise<Mailed> => {
      const { _id, tenant_id, app_id, notice } = row;
      if (notice === undefined) return "done";
      const facts = { tenant: tenant_id, app: app_id, export: _id, notice: notice.kind };
      const to = mailer === null ? null : await contactOf(tenant_id);
      if (mailer === null || to === null) {
        const reason = mailer === null ? "no mail server is set" : "the tenant has no contact address";
        log.info({ ...facts, reason }, "warehouse_export.owner_not_mailed");
        return "done";
      }
      const text = mailText(row, await appName(app_id));
      const failure = await mailer.send({ ...text, to, id: `${_id}.${notice.kind}.${notice.since.getTime()}` });
      if (failure === null) log.info(facts, "warehouse_export.owner_mailed");
      else log.warn({ ...facts, ...failure }, "warehouse_export.owner_not_mailed");
      return failure?.mailed ?? "done";
    },
    close: (): void => mailer?.close(),
  };
};

/** Ends connections to the mail server with the program. */
export const closedWith = (part: Part, mails: Pick<WarehouseMails, "close">): Part => ({
  ...part,
  stop: async (signal) => {
    await part.stop(signal);
    mails.close();
  },
});

const placeOf = ({ destination: to }: WarehouseExportRow): string =>
  to.type === "azure_blob" ? `the container ${to.container} of ${to.account}` : `the bucket ${to.bucket}`;

/** What fails, since when and why, what comes next and what to do. It names no more of a destination than its bucket. */
export const mailText = (row: WarehouseExportRow, app: string): { subject: string; text: string } => {
  const name = row.name.replaceAll(/\p{C}+/gu, " ").trim();
  const isPaused = row.notice?.kind === "paused";
  const path = `/v1/apps/${row.app_id}/warehouse-exports/${row._id}`;
  const since = instant(row.notice?.since ?? null);
  const which = `The warehouse export "${name}" (${row._id}, to ${placeOf(row)}) of your app ${app}`;
  const why = row.notice?.error == null ? "" : ` The last failure: ${row.notice.error}.`;
  return {
    subject: `${isPaused ? "Warehouse export was paused" : "Warehouse export is failing"}: ${name} (${app})`,
    text: [
      `${which} has been failing since ${since}${isPaused ? ", for 14 days, so it was paused" : ""}.`,
      `${row.failure_count} runs in a row have failed.${why}`,
      isPaused
        ? "No run begins any more. What changes meanwhile is exported once it is resumed, as long as your plan keeps it."
        : "We go on trying. The first run that succeeds ends this state; nothing is left out then.",
      `To see how its runs went: GET ${path}/runs. To try the destination: POST ${path}/test.${
        isPaused ? `\nTo resume it: POST ${path}/resume.` : ""
      }`,
    ]
      .join("\n\n")
      .concat("\n"),
  };
};

const instant = (at: Date | null): string =>
  at === null ? "an unknown time" : `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
