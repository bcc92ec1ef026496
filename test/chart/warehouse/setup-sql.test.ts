import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { filesAt, type StorePlace, setupSql, type Target } from "#core/domain/warehouse/setup-sql.ts";
import { warehouseDatasets } from "#core/schema/warehouse/export.ts";
import { folderOf, sqlglot } from "../../../dev/install/packaged-tools.ts";

const s3: StorePlace = { type: "s3", bucket: "acme-lake", prefix: "herald/eu" };
const gcs: StorePlace = { type: "gcs", bucket: "acme-lake", prefix: "" };
const azure: StorePlace = { type: "azure_blob", account: "acme", container: "lake", prefix: "herald" };

const schema = "messaging";
const cases: { target: Target; store: StorePlace; files: string }[] = [
  {
    target: { type: "bigquery", project_id: "acme-data", dataset: schema, location: "europe-west3" },
    store: gcs,
    files: "gs://acme-lake/v1/",
  },
  {
    target: { type: "snowflake", database: "DATA", schema, stage: "HERALD" },
    store: s3,
    files: "s3://acme-lake/herald/eu/v1/",
  },
  {
    target: { type: "snowflake", database: "DATA", schema, stage: "HERALD" },
    store: gcs,
    files: "gcs://acme-lake/v1/",
  },
  {
    target: { type: "snowflake", database: "DATA", schema, stage: "HERALD" },
    store: azure,
    files: "azure://acme.blob.core.windows.net/lake/herald/v1/",
  },
  { target: { type: "redshift", database: "dev", schema }, store: s3, files: "s3://acme-lake/herald/eu/v1/" },
  { target: { type: "databricks", catalog: "main", schema }, store: s3, files: "s3://acme-lake/herald/eu/v1/" },
];

/** Parses statements as a warehouse would, and gives the kind of each; `Command`: the parser knows its beginning alone. */
const parser = `
import json, sys, sqlglot
print(json.dumps([type(one).__name__ for one in sqlglot.parse(sys.stdin.read(), dialect=sys.argv[1]) if one]))
`;

const kindsOf = (sql: string, dialect: string): string[] =>
  JSON.parse(
    execFileSync(join(folderOf(sqlglot), sqlglot.program), ["-c", parser, dialect], {
      input: sql,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
    }),
  ) as string[];

describe("the statements that load a warehouse", function () {
  this.timeout(120_000);

  for (const { target, store, files } of cases)
    it(`are those of ${target.type}, which finds the files in ${store.type}`, () => {
      expect(filesAt(store, target)).to.equal(files);
      const sql = setupSql(target, {
        files,
        datasets: warehouseDatasets,
        excluded: ["deliveries.opened_at"],
        includePii: true,
      });
      const kinds = kindsOf(sql, target.type);
      const unknown = target.type === "redshift" ? 1 : 0; // its CREATE EXTERNAL SCHEMA is no part of the parser's grammar
      expect(kinds.filter((kind) => kind === "Command")).to.have.length(unknown);
      expect(kinds.filter((kind) => !["Create", "Copy", "Command", "Semicolon"].includes(kind))).to.deep.equal([]);
      const views = warehouseDatasets.map((dataset) => new RegExp(`CREATE OR REPLACE VIEW \\S*\\b${dataset}\\b`));
      for (const view of views) expect(sql).to.match(view);
      expect(sql.includes("opened_at")).to.equal(false);
    });

  it("would not be parsed if they were wrong", () => {
    expect(() => kindsOf("CREATE TABLE a (b VARCHAR", "snowflake")).to.throw();
  });
});
