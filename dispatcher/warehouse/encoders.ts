import { once } from "node:events";
import { createGzip, type Gzip } from "node:zlib";
import type { Cell } from "#core/domain/exports/csv.ts";
import type { WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseFormat } from "#core/schema/warehouse/export.ts";

/** A file in the making, in memory: a part is bounded before it is compressed. */
export type Encoder = {
  contentType: string;
  /** Adds the rows of a page; gives their size before compression, bytes. */
  add: (rows: readonly (readonly Cell[])[]) => Promise<number>;
  /** The whole file; the same rows give the same bytes. */
  end: () => Promise<Buffer>;
};

export const encoders: Readonly<Record<WarehouseFormat, (columns: readonly WarehouseColumn[]) => Encoder>> = {
  jsonl: (columns) => {
    const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`);
    const line = (row: readonly Cell[]): string => `{${keys.map((key, n) => key + jsonOf(row[n])).join(",")}}\n`;
    return packed("application/gzip", (rows) => rows.map(line).join(""));
  },
};

/** Instants are ISO 8601 in UTC with milliseconds; what is not there is null. */
const jsonOf = (value: Cell): string => JSON.stringify(value ?? null);

/** Text of UTF-8, compressed as it comes. Level 1: CPU is what exports are short of. */
const packed = (contentType: string, textOf: (rows: readonly (readonly Cell[])[]) => string): Encoder => {
  const gzip = createGzip({ level: 1 });
  const whole = collected(gzip);
  whole.catch(() => undefined); // it is awaited at the end, if that comes
  return {
    contentType,
    add: async (rows) => {
      const bytes = Buffer.from(textOf(rows));
      if (!gzip.write(bytes)) await once(gzip, "drain");
      return bytes.byteLength;
    },
    end: () => {
      gzip.end();
      return whole;
    },
  };
};

const collected = async (gzip: Gzip): Promise<Buffer> => Buffer.concat(await gzip.toArray());
