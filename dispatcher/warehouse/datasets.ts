import type { Db } from "mongodb";
import type { Cell } from "#core/domain/exports/csv.ts";
import { columnsOf, type WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { changesOf } from "#core/storage/warehouse/changes.ts";
import type { ChangePlace } from "#core/storage/warehouse/runs.ts";
import { deliveries } from "../exports/deliveries.ts";

/** A row of a file: its values in the order of the columns, and where reading goes on behind it. */
export type ReadRow = { values: readonly Cell[]; place: ChangePlace };

/** A dataset as a run writes it. */
export type OpenDataset = {
  columns: readonly WarehouseColumn[];
  /** What changed in a window, in pages; it goes on behind `after`. */
  pages: (window: { from: Date; to: Date; after: ChangePlace | null }) => AsyncIterable<ReadRow[]>;
};

type DatasetOptions = { of: OfApp; excluded: readonly string[]; exportedAt: Date; runId: string };

/** Opens a dataset of an app. `_hs_*` follow from the run, so that a part that is written again has the same bytes. */
export const openDataset = (db: Db, dataset: WarehouseDataset, options: DatasetOptions): OpenDataset => {
  switch (dataset) {
    case "deliveries":
      return openDeliveries(db, options);
  }
};

/** The columns that CSV exports have too, by name: docs/reference/exports.md describes both. */
const shared = new Map(deliveries.columns.map(({ name, of }) => [name, of]));

const openDeliveries = (db: Db, { of, excluded, exportedAt, runId }: DatasetOptions): OpenDataset => {
  const columns = columnsOf("deliveries", excluded);
  const common: Readonly<Record<string, Cell>> = { _hs_exported_at: exportedAt, _hs_run_id: runId };
  const readers = columns.map(({ name }): ((row: DeliveryRow) => Cell) => {
    if (name in common) return () => common[name];
    return name === "updated_at" ? (row) => row.updated_at : (shared.get(name) ?? (() => null));
  });
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    columns,
    async *pages(window) {
      const members = columns.map(({ name }) => (name === "id" ? "_id" : name)).filter((name) => !(name in common));
      for await (const page of changesOf(rows, { ...window, of, members }))
        yield page.map((row) => ({
          values: readers.map((read) => read(row)),
          place: { at: row.updated_at, id: row._id },
        }));
    },
  };
};
