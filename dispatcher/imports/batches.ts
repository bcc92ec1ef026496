import { checkAddress } from "#core/channels/addresses.ts";
import type { CsvRow } from "#core/domain/imports/csv.ts";
import type { ReadRow } from "#core/domain/imports/read-row.ts";
import { faulty, type ImportedRow } from "#core/domain/imports/row.ts";
import type { BatchRow } from "./import-batch.ts";

const mostRows = 1_000;
const mostCharacters = 1024 * 1024; // of rows as long as they may be

/**
 * Rows of a file in batches, without those in front that were taken before. Where a batch ends follows from where it
 * begins and from the file: a run after a kill makes the same ones.
 */
export async function* inBatches(
  pieces: AsyncIterable<CsvRow[]>,
  { taken }: { taken: number },
): AsyncGenerator<CsvRow[]> {
  let passed = 0;
  let batch: CsvRow[] = [];
  let characters = 0;
  for await (const piece of pieces) {
    for (const row of piece) {
      if (passed++ < taken) continue;
      batch.push(row);
      characters += row.raw.length;
      if (batch.length < mostRows && characters < mostCharacters) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** What rows mean, each address as its channel writes it. */
export const meaningOf = (read: ReadRow, rows: readonly CsvRow[], now: Date): BatchRow[] =>
  rows.map((csv) => ({ line: csv.line, csv, imported: withAddress(read(csv, now)) }));

const withAddress = (row: ImportedRow): ImportedRow => {
  if (row.kind === "faulty" || row.address === null) return row;
  const checked = checkAddress(row.address.channel, row.address.token);
  if (!checked.ok) return faulty(`the address ${checked.problem}`);
  return { ...row, address: { ...row.address, token: checked.address } };
};
