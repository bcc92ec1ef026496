import { columnsOf, schemaVersions } from "#core/domain/warehouse/columns.ts";
import type { ChainRow } from "#core/storage/warehouse/exports.ts";
import { choiceOf, type RunDatasetRow, type RunSettings, type WarehouseRunRow } from "#core/storage/warehouse/runs.ts";

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
  datasets: run.datasets.filter(isWritten).map((dataset) => datasetOf(dataset, settings)),
});

/** Whether a dataset is in the manifest of its run, and its window over. */
export const isWritten = ({ is_left: isLeft }: RunDatasetRow): boolean => isLeft !== true;

const datasetOf = ({ dataset: name, from, to, parts }: RunDatasetRow, settings: RunSettings): object => ({
  name,
  schema_version: schemaVersions[name],
  columns: columnsOf(name, choiceOf(settings)),
  ...(name === "events" && settings.event_names != null && { event_names: settings.event_names }),
  window: { start: from.toISOString(), end: to.toISOString() },
  rows: parts.reduce((sum, { rows }) => sum + rows, 0),
  files: parts,
});
