import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect } from "chai";
import type { Cell } from "#core/domain/exports/csv.ts";
import type { ColumnType, WarehouseColumn } from "#core/domain/warehouse/columns.ts";
import type { WarehouseCompression, WarehouseFormat } from "#core/schema/warehouse/export.ts";
import { openEncoder } from "../../../../dispatcher/warehouse/formats/encoders.ts";

type Format = { format: WarehouseFormat; compression: WarehouseCompression };

const types: ColumnType[] = ["string", "int", "decimal", "boolean", "timestamp", "json"];
const columns: WarehouseColumn[] = [
  { id: 1, name: "id", type: "string", nullable: false },
  ...types.map((type, n) => ({ id: n + 2, name: type, type, nullable: true })),
];

const at = new Date("2026-11-27T01:02:03.456Z");
const rows: Cell[][] = [
  ["1", 'a,"b"\r\nü 𝄞 = \' \\ \u0000', 2 ** 53 - 1, 19.9, true, at, { "a.b": [null, { ü: 1 }], n: Number.NaN }],
  ["2", null, null, null, null, null, null],
  ["3", "", -1, -0.1, false, new Date(0), []],
];

const bytesOf = async (given: Format, of: readonly WarehouseColumn[], all: readonly Cell[][]): Promise<Buffer> => {
  const encoder = await openEncoder(of, given);
  for (const row of all) await encoder.add([row]);
  return encoder.end();
};

describe("a file of a warehouse export, read by DuckDB", () => {
  const folder = mkdtempSync(join(tmpdir(), "warehouse-"));
  let duckdb: DuckDBInstance;
  before(async () => {
    duckdb = await DuckDBInstance.create(":memory:", { threads: "1" });
  });
  after(() => {
    duckdb.closeSync();
    rmSync(folder, { recursive: true });
  });

  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const link = await duckdb.connect();
    try {
      return (await link.runAndReadAll(sql)).getRowObjectsJson();
    } finally {
      link.closeSync();
    }
  };
  const write = (name: string, bytes: Buffer): string => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  const utc = "strftime(timestamp, '%Y-%m-%dT%H:%M:%S.%f')";

  for (const compression of ["snappy", "zstd"] as const)
    it(`has typed columns with permanent ids in Parquet, ${compression}`, async () => {
      const file = write(`${compression}.parquet`, await bytesOf({ format: "parquet", compression }, columns, rows));
      const described = await query(`describe select * from '${file}'`);
      expect(described.map(({ column_name: name, column_type: type }) => [name, type])).to.deep.equal([
        ["id", "VARCHAR"],
        ["string", "VARCHAR"],
        ["int", "BIGINT"],
        ["decimal", "DECIMAL(38,9)"],
        ["boolean", "BOOLEAN"],
        ["timestamp", "TIMESTAMP WITH TIME ZONE"],
        ["json", "VARCHAR"],
      ]);
      const found = await query(
        `select id, string, int, decimal::varchar as decimal, boolean, epoch_us(timestamp) as us, json from '${file}' order by id`,
      );
      const [first, second, third] = found;
      expect(first).to.deep.equal({
        id: "1",
        string: rows[0]?.[1],
        int: "9007199254740991",
        decimal: "19.900000000",
        boolean: true,
        us: String(at.getTime() * 1_000),
        json: '{"a.b":[null,{"ü":1}],"n":null}',
      });
      const nothing = { string: null, int: null, decimal: null, boolean: null, us: null, json: null };
      expect(second).to.deep.equal({ id: "2", ...nothing });
      expect(third).to.deep.include({ string: "", int: "-1", decimal: "-0.100000000", boolean: false, us: "0" });
      const schema = await query(`select name, field_id, repetition_type from parquet_schema('${file}')`);
      expect(schema.slice(1).map(({ field_id: id }) => id)).to.deep.equal(columns.map(({ id }) => String(id)));
      expect(schema.slice(1, 3).map(({ repetition_type: is }) => is)).to.deep.equal(["REQUIRED", "OPTIONAL"]);
      const [meta] = await query(`select distinct compression from parquet_metadata('${file}')`);
      expect(meta).to.deep.equal({ compression: compression.toUpperCase() });
    });

  it("has the same values as JSON lines and as CSV", async () => {
    const readable = rows.map((row) =>
      row.map((cell) => (typeof cell === "string" ? cell.replace("\u0000", "") : cell)),
    );
    const gzip = { compression: "gzip" } as const;
    const lines = write("a.jsonl.gz", await bytesOf({ format: "jsonl", ...gzip }, columns, readable));
    const csv = write("a.csv.gz", await bytesOf({ format: "csv", ...gzip }, columns, readable));
    const asked = `select id, string, int::varchar as int, decimal::varchar as decimal, boolean, ${utc} as at, json::varchar as json`;
    const named =
      "{id: 'varchar', string: 'varchar', int: 'bigint', decimal: 'decimal(38,9)', boolean: 'boolean', timestamp: 'timestamp', json: 'json'}";
    const ofLines = await query(`${asked} from read_json('${lines}', columns = ${named}) order by id`);
    const ofCsv = await query(
      `${asked} from read_csv('${csv}', header = true, columns = ${named}, nullstr = '', allow_quoted_nulls = false) order by id`,
    );
    expect(ofCsv).to.deep.equal(ofLines);
    expect(ofLines.map(({ string }) => string)).to.deep.equal(readable.map(([, text]) => text));
    expect(ofLines.map(({ at: instant }) => instant)).to.deep.equal([
      "2026-11-27T01:02:03.456000",
      null,
      "1970-01-01T00:00:00.000000",
    ]);
  });

  it("has a value of 10 MB as it was, in each format", async () => {
    const text = `"ü\n,${"x".repeat(10_000_000)}`;
    const some: Cell[][] = [
      ["1", text],
      ["2", null],
    ];
    const [two] = [columns.slice(0, 2)];
    const files = {
      parquet: `read_parquet('${write("large.parquet", await bytesOf({ format: "parquet", compression: "zstd" }, two, some))}')`,
      jsonl: `read_json('${write("large.jsonl.gz", await bytesOf({ format: "jsonl", compression: "gzip" }, two, some))}', maximum_object_size = 20000000)`,
      csv: `read_csv('${write("large.csv.gz", await bytesOf({ format: "csv", compression: "gzip" }, two, some))}', header = true, max_line_size = 20000000)`,
    };
    for (const [format, file] of Object.entries(files)) {
      const [found] = await query(
        `select length(string)::int as n, md5(string) as md5 from ${file} where string is not null`,
      );
      expect(found, format).to.deep.equal({ n: text.length, md5: createHash("md5").update(text).digest("hex") });
    }
  });

  it("reads a column that was added between two runs as null before", async () => {
    const [id, ...others] = columns;
    if (id === undefined) throw new Error("no column");
    const parquet = { format: "parquet", compression: "zstd" } as const;
    write("run-1.parquet", await bytesOf(parquet, [id], [["1"]]));
    write("run-2.parquet", await bytesOf(parquet, [id, ...others], [["2", "x", 1, 1, true, at, {}]]));
    const all = await query(
      `select id, string from read_parquet('${folder}/run-*.parquet', union_by_name = true) order by id`,
    );
    expect(all).to.deep.equal([
      { id: "1", string: null },
      { id: "2", string: "x" },
    ]);
  });

  it("is the same bytes when it is made again, and one without rows can be read", async () => {
    const parquet = { format: "parquet", compression: "snappy" } as const;
    const many = Array.from({ length: 12_000 }, (_, n) => [`${n}`, `text ${n % 7}`, n, n / 10, n % 2 === 0, at, { n }]);
    const [one, other] = [await bytesOf(parquet, columns, many), await bytesOf(parquet, columns, many)];
    expect(one.equals(other)).to.equal(true);
    const file = write("many.parquet", one);
    expect(await query(`select count(*)::int as n, sum(decimal)::varchar as sum from '${file}'`)).to.deep.equal([
      { n: 12_000, sum: "7199400.000000000" },
    ]);
    expect(await query(`select count(distinct row_group_id)::int as n from parquet_metadata('${file}')`)).to.deep.equal(
      [{ n: 2 }],
    );
    const empty = write("empty.parquet", await bytesOf(parquet, columns, []));
    expect(await query(`select * from '${empty}'`)).to.deep.equal([]);
  });

  it("is not made with a value that its column cannot have", async () => {
    const encoder = await openEncoder(columns, { format: "parquet", compression: "snappy" });
    const errors = await Promise.all(
      [[null], ["1", 7], ["1", null, 1.5], ["1", null, null, "x"]].map((row) =>
        encoder.add([row]).then(
          () => "",
          (error: Error) => error.message,
        ),
      ),
    );
    expect(errors).to.deep.equal(
      ["id", "string", "int", "decimal"].map(
        (name) => `${name} has a value that is no ${name === "id" ? "string" : name}`,
      ),
    );
  });
});
