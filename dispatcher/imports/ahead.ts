import type { Clock } from "#core/domain/clock.ts";
import type { CsvRow } from "#core/domain/imports/csv.ts";
import type { ReadRow } from "#core/domain/imports/read-row.ts";
import type { ImportedPeople } from "#core/storage/imports/people.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { meaningOf } from "./batches.ts";
import type { BatchRow } from "./import-batch.ts";
import { type Known, knownOf, namesIn } from "./known.ts";

/** A batch before its turn. `known`: what the app has of it; null when that has to be read when its turn comes. */
export type ReadyBatch = { rows: readonly BatchRow[]; now: Date; known: Promise<Known> | null };

export type AheadDeps = { people: ImportedPeople; of: OfApp; read: ReadRow; clock: Clock };

/**
 * Reads what the app has of a batch while the one before it is being written, unless both name the same user or address. One
 * batch is read ahead, no more. What `batches` throws comes behind the last batch that it gave.
 */
export async function* readAhead(
  { people, of, read, clock }: AheadDeps,
  batches: AsyncGenerator<CsvRow[]>,
): AsyncGenerator<ReadyBatch> {
  let before: ReadonlySet<string> = new Set();
  const next = async (): Promise<ReadyBatch | null> => {
    const { value, done } = await batches.next();
    if (done === true) return null;
    const now = clock.now();
    const rows = meaningOf(read, value, now);
    const names = namesIn(rows);
    const isOther = ![...names.all].some((name) => before.has(name));
    const known = isOther ? knownOf(people, of, rows) : null;
    known?.catch(() => undefined); // whoever awaits it hears of it
    before = names.all;
    return { rows, now, known };
  };
  let coming = next();
  try {
    for (let ready = await coming; ready !== null; ready = await coming) {
      coming = next();
      coming.catch(() => undefined); // the next turn of the loop hears of it
      yield ready;
    }
  } finally {
    await coming.catch(() => undefined);
    await batches.return(undefined);
  }
}
