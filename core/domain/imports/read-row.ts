import type { ImportType } from "../../schema/imports/import.ts";
import type { CsvRow } from "./csv.ts";
import { csvUserOf } from "./csv-users.ts";
import type { Columns } from "./header.ts";
import { cellsOf } from "./members.ts";
import { type PlayersOptions, playerOf } from "./players.ts";
import { faulty, type ImportedRow } from "./row.ts";

export type ReadRow = (row: CsvRow, now: Date) => ImportedRow;

/** What rows of a file of this type and with these columns mean. */
export const rowReader =
  (type: ImportType, columns: Columns, options: PlayersOptions): ReadRow =>
  (row, now) => {
    const problem = problemOf(row, columns);
    if (problem !== null) return faulty(problem);
    const cells = cellsOf(columns, row.cells);
    return type === "csv_users" ? csvUserOf(cells, now) : playerOf(cells, now, options);
  };

const problemOf = ({ cells, fault, raw }: CsvRow, columns: Columns): string | null => {
  if (fault !== null) return fault;
  if (raw.includes("\0")) return "has the character U+0000";
  return cells.length === columns.size ? null : `has ${cells.length} cells, the header has ${columns.size}`;
};
