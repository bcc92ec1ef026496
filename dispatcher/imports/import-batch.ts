import type { CsvRow } from "#core/domain/imports/csv.ts";
import type { ImportedRow } from "#core/domain/imports/row.ts";
import type { ImportStats } from "#core/schema/imports/import.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";

/** Rows that are written together. What follows from it is the same in each attempt. */
export type ImportBatch = {
  of: OfApp;
  importId: string;
  /** Of its first row in the file, from 0. */
  number: number;
  /** The instant of the ids of what it makes. */
  idsAt: Date;
  now: Date;
  /** How many more subscriptions the plan admits; null when it sets no limit. */
  left: number | null;
};

/** A row, and how the report shows it. */
export type BatchRow = { line: number; imported: ImportedRow; csv: CsvRow };

/** What a batch came to. `refused`: the lines for which the plan admitted no more. */
export type BatchResult = {
  stats: Required<ImportStats>;
  findings: { line: number; error: string; csv: CsvRow }[];
  refused: readonly number[];
  left: number | null;
};
