import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exportEnding, exportFile } from "#core/storage/exports/file.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { type Mailed, type MailServer, mailerFor } from "../work/mailer.ts";

export type ExportMailsDeps = {
  /** Null: nobody is mailed. */
  mail: MailServer | null;
  files: Pick<FileStore, "addressOf">;
  log: Log;
};

/** Mails the address of a finished file to whom the export names. The address lets anybody download it: it is never logged. */
export const exportMails = ({ mail: server, files, log }: ExportMailsDeps) => {
  const mailer = server === null ? null : mailerFor(server);
  const part: Part = { name: "mails about exports", start: async () => undefined, stop: async () => mailer?.close() };
  return {
    part,
    /** May be called again: the mail has the same id. @throws Unavailable when the address cannot be signed now */
    mail: async (row: ExportRow): Promise<Mailed> => {
      const { _id, tenant_id, app_id, mail_to: to, file, expires_at: expiresAt } = row;
      if (to == null || file === null || expiresAt === null) return "done";
      const facts = { tenant: tenant_id, app: app_id, export: _id };
      if (mailer === null) {
        log.info({ ...facts, reason: "no mail server is set" }, "export.not_mailed");
        return "done";
      }
      const fileName = `${row.type}-${_id}${exportEnding(row)}`;
      const address = await files.addressOf(file.key, {
        fileName,
        contentType: exportFile(row).contentType,
        expiresAt,
      });
      const failure = await mailer.send({ ...textOf(row, address, expiresAt), to, id: _id });
      if (failure === null) log.info(facts, "export.mailed");
      else log.warn({ ...facts, ...failure }, "export.not_mailed");
      return failure?.mailed ?? "done";
    },
  };
};

const textOf = ({ _id, filters, row_count: rows }: ExportRow, address: string, expiresAt: Date) => ({
  subject: `Export of notification ${filters.message_id ?? _id}`,
  text: [
    `The deliveries of the notification ${filters.message_id ?? ""} are exported: ${rows ?? 0} rows.`,
    `Whoever has this address can download the file until ${expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC:`,
    address,
  ]
    .join("\n\n")
    .concat("\n"),
});
