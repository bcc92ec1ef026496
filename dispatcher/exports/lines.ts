import { format } from "fast-csv";
import type { Db } from "mongodb";
import { byteOrderMark, cellText } from "#core/domain/exports/csv.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import type { ExportSource } from "./type.ts";

/** Lines of a file, and how many rows they are. */
export type LinePage = { bytes: Buffer; rows: number };

/** A source as lines of CSV in UTF-8: a byte order mark and the names of the columns, then the rows of each page. */
export const linesOf = <Row>({ columns, pages }: ExportSource<Row>) =>
  async function* (db: Db, of: OfApp, filters: ExportFilters, factsOf: FactsOf): AsyncGenerator<LinePage> {
    const head = await csv([columns.map(({ name }) => name)]);
    yield { bytes: Buffer.concat([Buffer.from(byteOrderMark), head]), rows: 0 };
    for await (const page of pages(db, of, filters, factsOf)) {
      const lines = page.map((row) => columns.map(({ of }) => cellText(of(row))));
      yield { bytes: await csv(lines), rows: page.length };
    }
  };

/** A page at a time: a formatter for the whole file would be asked row by row, which costs half as much again. */
const csv = async (lines: readonly string[][]): Promise<Buffer> => {
  if (lines.length === 0) return Buffer.alloc(0); // the formatter would write an empty line
  const formatter = format({ rowDelimiter: "\r\n", includeEndRowDelimiter: true });
  for (const line of lines) formatter.write(line);
  formatter.end();
  return Buffer.concat(await formatter.toArray());
};
