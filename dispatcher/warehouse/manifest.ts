import { columnsOf, schemaVersions } from "#core/domain/warehouse/columns.ts";
import type { ChainRow } from "#core/storage/warehouse/exports.ts";
import type { RunDatasetRow, RunSettings, WarehouseRunRow } from "#core/storage/warehouse/runs.ts";

/**
 * What a run has written, as the file that a loader waits for. It follows from the run and from the manifest before it alone,
 * so that whoever writes it again writes the same. Source: docs/reference/warehouse.md#manifests.
 */
export const manifestOf = (run: WarehouseRunRow, settings: RunSettings, previous: ChainRow): object => ({
  version: 1,
  app_id: run.app_id,
  export_id: run.export_id,
  run_id: run._id,
  trigger: run.trigger,
  chain: run.trigger === "backfill" ? run._id : "changes",
  sequence: previous.sequence + 1,
  previous: previous.key === null ? null : { key: previous.key, sha256: previous.sha256 },
  format: settings.format,
  compression: settings.compression,
  created_at: run.created_at.toISOString(),
  datasets: run.datasets.map((dataset) => datasetOf(dataset, settings)),
});

const datasetOf = ({ dataset: name, from, to, parts }: RunDatasetRow, { excluded_columns }: RunSettings): object => ({
  name,
  schema_version: schemaVersions[name],
  columns: columnsOf(name, excluded_columns),
  window: { start: from.toISOString(), end: to.toISOString() },
  rows: parts.reduce((sum, { rows }) => sum + rows, 0),
  files: parts,
});
