import type { RunTrigger, WarehouseDataset } from "../../schema/warehouse/export.ts";
import type { WarehouseExportRow } from "./exports.ts";
import type { WarehouseRunRow } from "./runs.ts";

export type NewRun = {
  id: string;
  trigger: RunTrigger;
  windows: readonly { dataset: WarehouseDataset; from: Date; to: Date }[];
  now: Date;
};

/** A run that is to be begun now. */
export const newRun = (
  { _id: export_id, tenant_id, app_id }: Pick<WarehouseExportRow, "_id" | "tenant_id" | "app_id">,
  { id, trigger, windows, now }: NewRun,
): WarehouseRunRow => ({
  _id: id,
  tenant_id,
  app_id,
  export_id,
  trigger,
  status: "pending",
  open: true,
  settings: null,
  datasets: windows.map((window) => ({ ...window, parts: [], after: null, is_done: false })),
  manifest_key: null,
  attempt: 0,
  error: null,
  next_retry_at: null,
  started_at: null,
  completed_at: null,
  created_at: now,
  due_at: now,
  lease: null,
  fence: 0,
});
