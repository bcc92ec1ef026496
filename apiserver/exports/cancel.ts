import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { ExportRow, Exports } from "#core/storage/exports/exports.ts";

/** By then whoever makes it has found out, and stopped. */
const cleanAfterMs = 60_000;

const cancelled = "HS_CANCELLED: it was cancelled by a request";

/**
 * Ends an export that has not ended: it has failed, and has no file. One that was cancelled stays so.
 * @throws AppError HS_CONFLICT when it has ended otherwise
 */
export const cancelExport =
  ({ exports, clock }: { exports: Pick<Exports, "cancel">; clock: Clock }) =>
  async (row: ExportRow): Promise<ExportRow> => {
    const now = clock.now();
    const times = { now, cleanAt: new Date(now.getTime() + cleanAfterMs) };
    if (row.error === cancelled) return row;
    const ended = await exports.cancel(row, cancelled, times);
    if (ended === null) throw new AppError("HS_CONFLICT", "the export has ended", { status: row.status });
    return ended;
  };
