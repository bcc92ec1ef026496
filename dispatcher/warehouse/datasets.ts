import type { Collection, Db, Document } from "mongodb";
import type { Cell } from "#core/domain/exports/csv.ts";
import { columnsOf, type WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
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
      return changed(collectionOf<DeliveryRow>(db, deliveryCollection), dataset, { ...options, readers: ofDelivery });
    case "messages":
      return changed(collectionOf<MessageRow>(db, messageCollection), dataset, { ...options, readers: new Map() });
  }
};

/** The columns that CSV exports have too, by name: docs/reference/exports.md describes both. */
const ofDelivery: Readers<DeliveryRow> = new Map(deliveries.columns.map(({ name, of }) => [name, of]));

/** Columns that are not the member of their name. */
type Readers<Row> = ReadonlyMap<string, (row: Row) => Cell>;

type Changed = Document & { _id: string; updated_at: Date };

const changed = <Row extends Changed>(
  rows: Collection<Row>,
  dataset: WarehouseDataset,
  { of, excluded, exportedAt, runId, readers }: DatasetOptions & { readers: Readers<Row> },
): OpenDataset => {
  const columns = columnsOf(dataset, excluded);
  const common = new Map<string, Cell>([
    ["_hs_exported_at", exportedAt],
    ["_hs_run_id", runId],
  ]);
  const read = columns.map(({ name }): ((row: Row) => Cell) => {
    if (common.has(name)) return () => common.get(name);
    if (name === "id") return ({ _id }) => _id;
    return readers.get(name) ?? ((row) => row[name] as Cell); // sound: members of documents that columns name
  });
  return {
    columns,
    async *pages(window) {
      const members = columns.map(({ name }) => name).filter((name) => name !== "id" && !common.has(name));
      for await (const page of changesOf(rows, { ...window, of, members }))
        yield page.map((row) => ({
          values: read.map((valueOf) => valueOf(row)),
          place: { at: row.updated_at, id: row._id },
        }));
    },
  };
};
