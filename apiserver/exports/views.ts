import type { Clock } from "#core/domain/clock.ts";
import { Export } from "#core/schema/exports/export.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exportEnding, exportFile } from "#core/storage/exports/file.ts";
import type { FileStore } from "#core/storage/files/store.ts";

export type ViewDeps = { files: Pick<FileStore, "addressOf">; clock: Clock };

/** An export as the REST interface shows it: its address is signed now. @throws Unavailable when it cannot be signed */
export const exportView =
  ({ files, clock }: ViewDeps) =>
  async (row: ExportRow): Promise<Export> =>
    showAs(Export, {
      ...row,
      id: row._id,
      size_bytes: row.file?.size_bytes,
      progress: progressOf(row),
      download_url: await addressOf(files, row, clock.now()),
    });

/** Null before it has begun, and when it has failed: there is no part of a file. */
const progressOf = ({ status, row_count: done, counted_at: at }: ExportRow): Export["progress"] =>
  done === null || at === null || status === "failed"
    ? null
    : { done, total: status === "completed" ? done : null, at: at.toISOString() };

const addressOf = async (files: ViewDeps["files"], row: ExportRow, now: Date): Promise<string | null> => {
  const { file, type, _id, expires_at: expiresAt } = row;
  if (file === null || expiresAt === null || expiresAt <= now) return null;
  const fileName = `${type}-${_id}${exportEnding(row)}`;
  return files.addressOf(file.key, { fileName, contentType: exportFile(row).contentType, expiresAt });
};
