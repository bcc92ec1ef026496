import type { Clock } from "#core/domain/clock.ts";
import { Import } from "#core/schema/imports/import.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { type ImportRow, importFiles } from "#core/storage/imports/imports.ts";

const addressMs = 86_400_000; // that an address works for, but no longer than its report is there

/** An import as the REST interface shows it, with an address for its report that is signed now. */
export const importView =
  ({ files, clock }: { files: Pick<FileStore, "addressOf">; clock: Clock }) =>
  async (row: ImportRow): Promise<Import> =>
    showAs(Import, {
      ...row,
      id: row._id,
      status: row.status === "uploading" ? "pending" : row.status,
      progress: { read_bytes: row.position.bytes, size_bytes: row.size_bytes },
      error_report_url: await addressOf(files, row, clock.now()),
    });

const addressOf = async (files: Pick<FileStore, "addressOf">, row: ImportRow, now: Date): Promise<string | null> => {
  if (row.report_until === null || row.report_until <= now) return null;
  const expiresAt = new Date(Math.min(now.getTime() + addressMs, row.report_until.getTime()));
  return files.addressOf(importFiles(row).report, {
    fileName: `${row._id}-report.csv`,
    contentType: "text/csv; charset=utf-8",
    expiresAt,
  });
};
