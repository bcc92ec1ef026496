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

/** Parses statements as a warehouse would, and gives the kind of each; `Command`: the parser knows its beginning alone, and gives its text. */
const parser = `
import json, sys, sqlglot
from sqlglot import exp
parsed = [one for one in sqlglot.parse(sys.stdin.read(), dialect=sys.argv[1]) if one]
print(json.dumps([{"kind": type(one).__name__, "text": one.sql() if isinstance(one, exp.Command) else ""} for one in parsed]))
`;

/**
 * The one statement that the parser does not know, as its clauses follow one another.
 * Source: https://docs.aws.amazon.com/redshift/latest/dg/r_CREATE_EXTERNAL_SCHEMA.html (2026-11-27)
 */
const externalSchema =
  /^CREATE EXTERNAL SCHEMA( IF NOT EXISTS)? [a-z_]\w*\s+FROM DATA CATALOG\s+DATABASE '[^'\s]+'(\s+REGION '[a-z0-9-]+')?\s+IAM_ROLE (default|'arn:[^'\s]+')(\s+CREATE EXTERNAL DATABASE IF NOT EXISTS)?$/i;

const parsed = (sql: string, dialect: string): { kind: string; text: string }[] =>
  JSON.parse(
    execFileSync(join(folderOf(sqlglot), sqlglot.program), ["-c", parser, dialect], {
      input: sql,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
    }),
  ) as { kind: string; text: string }[];

describe("the statements that load a warehouse", () => {
  for (const { target, store, files } of cases)
    it(`are those of ${target.type}, which finds the files in ${store.type}`, () => {
      expect(filesAt(store, target)).to.equal(files);
      const sql = setupSql(target, {
        files,
        datasets: warehouseDatasets,
        excluded: ["deliveries.opened_at"],
        includePii: true,
      });
      const statements = parsed(sql, target.type);
      const unknown = statements.filter(({ kind }) => kind === "Command");
      expect(unknown).to.have.length(target.type === "redshift" ? 1 : 0);
      for (const { text } of unknown) expect(text).to.match(externalSchema);
      const known = ["Create", "Copy", "Command", "Semicolon"];
      expect(statements.filter(({ kind }) => !known.includes(kind))).to.deep.equal([]);
      const views = warehouseDatasets.map((dataset) => new RegExp(`CREATE OR REPLACE VIEW \\S*\\b${dataset}\\b`));
      for (const view of views) expect(sql).to.match(view);
      expect(sql.includes("opened_at")).to.equal(false);
    });

  it("would not be parsed if they were wrong", () => {
    expect(() => parsed("CREATE TABLE a (b VARCHAR", "snowflake")).to.throw();
    const [schema] = parsed("CREATE EXTERNAL SCHEMA a IAM_ROLE default FROM DATA CATALOG DATABASE 'b'", "redshift");
    expect(schema?.text, "clauses in another order")
      .to.match(/^CREATE/)
      .and.not.match(externalSchema);
  });
});
