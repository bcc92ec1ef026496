import { constants, zstdCompressSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { Cell } from "#core/domain/exports/csv.ts";
import type { WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import { decimalOf, decimalPrecision, decimalScale } from "#core/domain/warehouse/decimal.ts";
import type { ParquetCompression } from "#core/schema/warehouse/export.ts";
import { BadCell, type Encoder } from "./encoder.ts";

/** A group is encoded at once, some 30 ms of the loop; and no more than that waits. */
const group = { rows: 10_000, bytes: 8_000_000 };

/**
 * A Parquet file: typed columns with the permanent ids of the manifest, instants in µs UTC, decimals as such. The same
 * rows in pages of the same size give the same bytes. Source: https://parquet.apache.org/docs/file-format/ (2026-11-27)
 */
export const parquetEncoder = (columns: readonly WarehouseColumn[], compression: ParquetCompression): Encoder => {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: "root", num_children: columns.length }, ...columns.map(elementOf)],
    codec: compression === "zstd" ? "ZSTD" : "SNAPPY",
    compressors: { ZSTD: zstd },
    createdBy: "herald",
  });
  const read = columns.map(valueOf);
  let data: unknown[][] = columns.map(() => []);
  let [rows, bytes] = [0, 0];
  const flush = async (): Promise<void> => {
    const columnData = columns.map(({ name }, n) => ({ name, data: data[n] ?? [] }));
    if (rows > 0) await file.write({ columnData, rowGroupSize: rows });
    data = columns.map(() => []);
    [rows, bytes] = [0, 0];
  };
  const addRow = (row: readonly Cell[]): number => {
    let size = 0;
    for (const [n, valueAt] of read.entries()) {
      const value = valueAt(row[n]);
      data[n]?.push(value);
      size += sizeOf(value);
    }
    rows++;
    bytes += size;
    return size;
  };
  return {
    contentType: "application/vnd.apache.parquet",
    add: async (page) => {
      let size = 0;
      for (const row of page) {
        size += addRow(row);
        if (rows >= group.rows || bytes >= group.bytes) await flush();
      }
      return size;
    },
    end: async () => {
      await flush();
      await file.finish();
      return Buffer.from(writer.getBytes());
    },
  };
};

const zstd = (input: Uint8Array): Uint8Array =>
  zstdCompressSync(input, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }); // higher ones gain little here

const elementOf = ({ id, name, type, nullable }: WarehouseColumn): SchemaElement => ({
  name,
  field_id: id,
  repetition_type: nullable ? "OPTIONAL" : "REQUIRED",
  ...elements[type],
});

const elements: Readonly<Record<WarehouseColumn["type"], Omit<SchemaElement, "name">>> = {
  string: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  int: { type: "INT64" },
  decimal: {
    type: "FIXED_LEN_BYTE_ARRAY",
    type_length: 16,
    converted_type: "DECIMAL",
    precision: decimalPrecision,
    scale: decimalScale,
  },
  boolean: { type: "BOOLEAN" },
  timestamp: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
};

/** A cell as the library takes it. @throws BadCell for a value that the column cannot have */
const valueOf = ({ name, type, nullable }: WarehouseColumn): ((cell: Cell) => unknown) => {
  const read = readers[type];
  return (cell) => {
    const value = cell === null || cell === undefined ? null : read(cell);
    if (value === undefined || (value === null && !nullable))
      throw new BadCell(`${name} has a value that is no ${type}`);
    return value;
  };
};

/** Undefined: the value is of another type. */
const readers: Readonly<Record<WarehouseColumn["type"], (cell: NonNullable<Cell>) => unknown>> = {
  string: (cell) => (typeof cell === "string" ? cell : undefined),
  json: (cell) => JSON.stringify(cell),
  int: (cell) => (Number.isSafeInteger(cell) ? BigInt(cell as number) : undefined), // sound: it is one
  decimal: (cell) => (typeof cell === "number" ? decimalOf(cell) : undefined),
  boolean: (cell) => (typeof cell === "boolean" ? cell : undefined),
  timestamp: (cell) => (cell instanceof Date ? cell : undefined),
};

const sizeOf = (value: unknown): number => (typeof value === "string" ? value.length : 8);
