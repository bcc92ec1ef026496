import { newId } from "#core/domain/ids.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { noWork } from "#core/storage/work/due.ts";

/** An export that waits to be begun. */
export const anExport = (over: Partial<ExportRow> & Pick<ExportRow, "tenant_id" | "app_id">): ExportRow => {
  const now = new Date();
  return {
    _id: newId("export", now),
    type: "users",
    filters: {},
    compression: "none",
    status: "pending",
    row_count: null,
    counted_at: null,
    attempts: 0,
    error: null,
    file: null,
    expires_at: null,
    requested_by: "key_1",
    created_at: now,
    completed_at: null,
    ...noWork,
    due_at: now,
    ...over,
  };
};
