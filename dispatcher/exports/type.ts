import type { Db } from "mongodb";
import type { Column } from "#core/domain/exports/csv.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";

/** What can be exported: its columns, and where its rows come from. */
export type ExportSource<Row> = {
  columns: readonly Column<Row>[];
  /** The rows of an app, in pages that are bounded. It is read to its end, or left between two pages. */
  pages: (db: Db, of: OfApp, filters: ExportFilters, factsOf: FactsOf) => AsyncIterable<readonly Row[]>;
};
