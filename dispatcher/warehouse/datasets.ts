import type { Collection, Db, Filter } from "mongodb";
import type { Cell } from "#core/domain/exports/csv.ts";
import { columnsOf, hasDeletions, type WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { findIds } from "#core/storage/mongo/pages.ts";
import { changePage, changesOf } from "#core/storage/warehouse/changes.ts";
import { type DeletionRow, deletionCollection } from "#core/storage/warehouse/deletions.ts";
import type { ChangePlace } from "#core/storage/warehouse/runs.ts";
import { type DatasetSource, type ReadDocument, sources } from "./sources.ts";

/** A row of a file: its values in the order of the columns, and where reading goes on behind it. */
export type ReadRow = { values: readonly Cell[]; place: ChangePlace };

/** A dataset as a run writes it. */
export type OpenDataset = {
  columns: readonly WarehouseColumn[];
  /** What changed in a window, in pages; it goes on behind `after`. */
  pages: (window: Window) => AsyncIterable<ReadRow[]>;
};

type Window = { from: Date; to: Date; after: ChangePlace | null };

type DatasetOptions = { of: OfApp; excluded: readonly string[]; exportedAt: Date; runId: string };

/** Opens a dataset of an app. `_hs_*` follow from the run, so that a part that is written again has the same bytes. */
export const openDataset = (db: Db, dataset: WarehouseDataset, options: DatasetOptions): OpenDataset => {
  const { excluded, exportedAt, runId } = options;
  const columns = columnsOf(dataset, excluded);
  const common = new Map<string, Cell>([
    ["_hs_exported_at", exportedAt],
    ["_hs_run_id", runId],
    ["_hs_deleted", false],
  ]);
  const given = { db, dataset, of: options.of, columns, common };
  return {
    columns,
    async *pages(window) {
      if (window.after?.isDeletion !== true) yield* changed(given, window);
      if (hasDeletions(dataset)) yield* deleted(given, window);
    },
  };
};

type Given = {
  db: Db;
  dataset: WarehouseDataset;
  of: OfApp;
  columns: readonly WarehouseColumn[];
  /** What every row has, whatever it is. */
  common: ReadonlyMap<string, Cell>;
};

async function* changed({ db, dataset, of, columns, common }: Given, window: Window): AsyncGenerator<ReadRow[]> {
  const { collection, readers = new Map(), by = "updated_at", join }: DatasetSource = sources[dataset];
  const read = columns.map(({ name }): ((row: ReadDocument) => Cell) => {
    if (common.has(name)) return () => common.get(name);
    if (name === "id") return ({ _id }) => _id;
    return readers.get(name)?.of ?? ((row) => row[name] as Cell); // sound: members of documents that columns name
  });
  const members = columns.flatMap(({ name }) => readers.get(name)?.reads ?? name).filter((name) => !common.has(name));
  const rows = collectionOf<ReadDocument>(db, collection);
  const joined = join?.(db, of) ?? (async (page) => [...page]);
  for await (const page of changesOf(rows, { ...window, of, by, members }))
    yield (await joined(page)).map((row) => ({
      values: read.map((valueOf) => valueOf(row)),
      place: { at: row[by], id: row._id },
    }));
}

/** What is gone: the id alone. What was only about to go when that was noted is left out. */
async function* deleted({ db, dataset, of, columns, common }: Given, window: Window): AsyncGenerator<ReadRow[]> {
  const after = window.after?.isDeletion === true ? window.after : null;
  const noted = collectionOf<DeletionRow>(db, deletionCollection);
  const narrowed = { dataset } as Partial<DeletionRow>; // sound: it is one that has deletions
  for await (const page of changesOf(noted, { ...window, after, of, by: "updated_at", narrowed, members: [] })) {
    const there = await stillThere(collectionOf<ReadDocument>(db, sources[dataset].collection), page);
    const valueOf = (row: DeletionRow, name: string): Cell => {
      if (name === "id") return row._id;
      if (name === "updated_at") return row.updated_at;
      return name === "_hs_deleted" ? true : common.get(name);
    };
    yield page
      .filter(({ _id }) => !there.has(_id))
      .map((row) => ({
        values: columns.map(({ name }) => valueOf(row, name)),
        place: { at: row.updated_at, id: row._id, isDeletion: true },
      }));
  }
}

const stillThere = async (
  rows: Collection<ReadDocument>,
  page: readonly DeletionRow[],
): Promise<ReadonlySet<string>> => {
  const ids = { _id: { $in: page.map(({ _id }) => _id) } } as Filter<ReadDocument>;
  return new Set(await findIds(rows, ids, { limit: changePage }));
};
