import type { Clock } from "#core/domain/clock.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { Exports } from "#core/storage/exports/exports.ts";
import { cancelJob } from "../jobs/cancel.ts";

/** By then whoever makes it has found out, and stopped. */
const cleanAfterMs = 60_000;

const cancelled = "HS_CANCELLED: it was cancelled by a request";

/** Ends an export that has not ended: it has failed, and has no file. @throws AppError HS_CONFLICT */
export const cancelExport =
  ({ exports, clock }: { exports: Pick<Exports, "cancel">; clock: Clock }) =>
  (row: ExportRow): Promise<ExportRow> => {
    const now = clock.now();
    const times = { now, cleanAt: new Date(now.getTime() + cleanAfterMs) };
    return cancelJob({ what: "export", row, error: cancelled, end: () => exports.cancel(row, cancelled, times) });
  };
