import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import type { WarehouseRuns } from "#core/storage/warehouse/runs.ts";
import type { By } from "../settings/audit.ts";
import type { Settings } from "../settings/settings.ts";
import { inProgress } from "./runs.ts";

type Change = { settings: Pick<Settings<WarehouseExportRow>, "change"> };

/** Begins no further runs; one that is under way ends. Once more: nothing changes. */
export const pauseExport =
  ({ settings }: Change) =>
  async (by: By, found: WarehouseExportRow, reason = ""): Promise<WarehouseExportRow> =>
    found.status === "paused"
      ? found
      : settings.change(by, "paused", found, () => ({
          set: { status: "paused", pause_reason: reason === "" ? "by its owner" : reason },
        }));

/**
 * Begins runs again. `isCaughtUp` false: what changed until now is left out.
 * @throws AppError HS_JOB_IN_PROGRESS when a run is under way that what is left out would belong to
 */
export const resumeExport =
  ({ settings, runs }: Change & { runs: Pick<WarehouseRuns, "open"> }) =>
  async (by: By, found: WarehouseExportRow, isCaughtUp: boolean): Promise<WarehouseExportRow> => {
    if (found.status !== "paused") return found;
    if (!isCaughtUp && (await runs.open(found._id)) !== null) throw await inProgress(runs, found._id);
    return settings.change(by, "resumed", found, (row, now) => {
      const healthy = { status: "active", pause_reason: null, failure_count: 0, failing_since: null } as const;
      const skipped = { watermarks: Object.fromEntries(row.datasets.map((one) => [one, now])), scheduled_until: now };
      return { set: { ...healthy, due_at: now, ...(!isCaughtUp && skipped) } };
    });
  };
