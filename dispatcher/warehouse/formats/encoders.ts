import { once } from "node:events";
import { createGzip, type Gzip } from "node:zlib";
import type { Cell } from "#core/domain/exports/csv.ts";
import type { WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseCompression, WarehouseFormat } from "#core/schema/warehouse/export.ts";
import type { Encoder } from "./encoder.ts";

/** Begins a file. What writes Parquet is loaded with the first one. */
export const openEncoder = async (
  columns: readonly WarehouseColumn[],
  { format, compression }: { format: WarehouseFormat; compression: WarehouseCompression },
): Promise<Encoder> => {
  if (format !== "parquet") return encoders[format](columns);
  const { parquetEncoder } = await import("./parquet.ts");
  return parquetEncoder(columns, compression === "zstd" ? "zstd" : "snappy");
};

const encoders: Readonly<Record<"jsonl" | "csv", (columns: readonly WarehouseColumn[]) => Encoder>> = {
  jsonl: (columns) => {
    const keys = columns.map(({ name }, n) => `${n === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    const jsonOf = jsonTexts();
    return packed((rows) => {
      let text = ""; // one text and no lists of texts: half of the CPU of a file
      for (const row of rows) {
        for (const [n, key] of keys.entries()) text += key + jsonOf(row[n]);
        text += "}\n";
      }
      return text;
    });
  },
  csv: (columns) => {
    let head = `${columns.map(({ name }) => name).join(",")}\r\n`;
    return packed((rows) => {
      const text = head + rows.map((row) => `${row.map(csvOf).join(",")}\r\n`).join("");
      head = "";
      return text;
    });
  },
};

/**
 * A cell of RFC 4180, for programs: what is not there is empty, an empty text is `""`. No quote stands before formulas, as in
 * files for people: a warehouse would keep it.
 */
const csvOf = (value: Cell): string => {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : ""; // as JSON has it
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * Gives values as JSON: instants are ISO 8601 in UTC with milliseconds, what is not there is null. Many instants of a row are
 * the same, or those of the rows beside it: their texts are kept.
 */
const jsonTexts = (): ((value: Cell) => string) => {
  const instants = new Map<number, string>();
  const instantOf = (at: Date): string => {
    const known = instants.get(at.getTime());
    if (known !== undefined) return known;
    if (instants.size >= mostInstants) instants.clear();
    const text = JSON.stringify(at);
    instants.set(at.getTime(), text);
    return text;
  };
  return (value) => {
    if (value === null || value === undefined) return "null";
    if (typeof value === "string") return unescaped.test(value) ? `"${value}"` : JSON.stringify(value);
    return value instanceof Date ? instantOf(value) : JSON.stringify(value);
  };
};

const mostInstants = 1_000;
/** Texts that JSON has as they are. */
const unescaped = /^[ !#-[\]-~]*$/;

/** Text of UTF-8, compressed as it comes. Level 1: CPU is what exports are short of. */
const packed = (textOf: (rows: readonly (readonly Cell[])[]) => string): Encoder => {
  const gzip = createGzip({ level: 1 });
  const whole = collected(gzip);
  whole.catch(() => undefined); // it is awaited at the end, if that comes
  return {
    contentType: "application/gzip",
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
