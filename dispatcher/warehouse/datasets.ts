import type { Collection, Db, Filter } from "mongodb";
import type { Cell } from "#core/domain/exports/csv.ts";
import { type ColumnChoice, columnsOf, hasDeletions, type WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { findIds } from "#core/storage/mongo/pages.ts";
import { changedById, changePage, changesOf } from "#core/storage/warehouse/changes.ts";
import { type DeletionRow, deletionCollection } from "#core/storage/warehouse/deletions.ts";
import type { ChangePlace } from "#core/storage/warehouse/runs.ts";
import type { ReadDocument } from "./read-document.ts";
import { type DatasetSource, type HashOf, sources } from "./sources.ts";

/** Rows of a file, each its values in the order of the columns, and where reading goes on behind them. */
export type ReadPage = { rows: readonly (readonly Cell[])[]; end: ChangePlace };

/** A dataset as a run writes it. */
export type OpenDataset = {
  columns: readonly WarehouseColumn[];
  /** What changed in a window, in pages; it goes on behind `after`. */
  pages: (window: Window) => AsyncIterable<ReadPage>;
};

type Window = { from: Date; to: Date; after: ChangePlace | null };

export type DatasetOptions = {
  of: OfApp;
  choice: ColumnChoice;
  /** Of the dataset `events`: the only ones; null: all. */
  eventNames: readonly string[] | null;
  hash: HashOf;
  exportedAt: Date;
  runId: string;
};

/** Opens a dataset of an app. `_hs_*` follow from the run, so that a part that is written again has the same bytes. */
export const openDataset = (db: Db, dataset: WarehouseDataset, options: DatasetOptions): OpenDataset => {
  const { choice, exportedAt, runId, eventNames } = options;
  const columns = columnsOf(dataset, choice);
  const common = new Map<string, Cell>([
    ["_hs_exported_at", exportedAt],
    ["_hs_run_id", runId],
    ["_hs_deleted", false],
  ]);
  const names = dataset === "events" && eventNames !== null ? { name: { $in: [...eventNames] } } : {};
  const given = { db, dataset, of: options.of, columns, common, hash: options.hash, names };
  const source = sources[dataset];
  return {
    columns,
    async *pages(window) {
      const { after } = window;
      const at = after?.source ?? 0;
      for (const [nth, one] of [source, ...(source.others ?? [])].entries()) {
        if (after?.isDeletion === true || nth < at) continue;
        const pages = changed(given, one, { ...window, after: nth === at ? after : null });
        for await (const { rows, end } of pages) yield { rows, end: nth === 0 ? end : { ...end, source: nth } };
      }
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
  hash: HashOf;
  /** What narrows the rows. */
  names: Filter<ReadDocument>;
};

async function* changed(given: Given, source: DatasetSource, window: Window): AsyncGenerator<ReadPage> {
  const { db, of, columns, common, hash, names } = given;
  const { collection, readers = new Map(), by = "updated_at", join } = source;
  const read = columns.map(({ name }): ((row: ReadDocument) => Cell) => {
    if (common.has(name)) return () => common.get(name);
    if (name === "id") return ({ _id }) => _id;
    const reader = readers.get(name);
    if (reader !== undefined) return (row) => reader.of(row, hash);
    return (row) => row[name] as Cell; // sound: members of documents that columns name
  });
  const shown = columns.flatMap(({ name }) => readers.get(name)?.reads ?? name).filter((name) => !common.has(name));
  const rows = collectionOf<ReadDocument>(db, collection);
  const joined = join?.(db, of, window) ?? (async (page) => [...page]);
  const asked = { ...window, of, by, members: source.members ?? shown, narrowed: { ...names, ...source.there } };
  let end = window.after ?? { at: window.from, id: "" };
  for await (const page of source.isById === true ? changedById(rows, asked) : changesOf(rows, asked)) {
    const last = page.at(-1);
    if (last !== undefined) end = { at: last[by], id: last._id };
    const made = (await joined(page)).map((row) => read.map((valueOf) => valueOf(row)));
    yield { rows: made, end };
  }
}

/** What is gone: the id alone. What was only about to go when that was noted is left out. */
async function* deleted({ db, dataset, of, columns, common }: Given, window: Window): AsyncGenerator<ReadPage> {
  const after = window.after?.isDeletion === true ? window.after : null;
  const noted = collectionOf<DeletionRow>(db, deletionCollection);
  const narrowed: Filter<DeletionRow> = { dataset: dataset as DeletionRow["dataset"] }; // sound: it is one that has deletions
  for await (const page of changesOf(noted, { ...window, after, of, by: "updated_at", narrowed, members: [] })) {
    const last = page.at(-1);
    if (last === undefined) return;
    const there = await stillThere(db, sources[dataset], page);
    const valueOf = (row: DeletionRow, name: string): Cell => {
      if (name === "id") return row._id;
      if (name === "updated_at") return row.updated_at;
      return name === "_hs_deleted" ? true : common.get(name);
    };
    const gone = page.filter(({ _id }) => !there.has(_id));
    const rows = gone.map((row) => columns.map(({ name }) => valueOf(row, name)));
    yield { rows, end: { at: last.updated_at, id: last._id, isDeletion: true } };
  }
}

const stillThere = async (
  db: Db,
  { collection, there }: DatasetSource,
  page: readonly DeletionRow[],
): Promise<ReadonlySet<string>> => {
  const rows: Collection<ReadDocument> = collectionOf<ReadDocument>(db, collection);
  const ids = { ...there, _id: { $in: page.map(({ _id }) => _id) } } as Filter<ReadDocument>;
  return new Set(await findIds(rows, ids, { limit: changePage }));
};
