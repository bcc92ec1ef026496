import type { WarehouseDataset } from "../../schema/warehouse/export.ts";
import { type ColumnChoice, type ColumnType, columnsOf, hasDeletions, type WarehouseColumn } from "./columns.ts";

/** Where the files are: an address of the warehouse's own form, below which the folders of datasets are, with a slash at its end. */
export type SetupOf = ColumnChoice & { files: string; datasets: readonly WarehouseDataset[] };

export type Target =
  | { type: "bigquery"; project_id: string; dataset: string; location: string }
  | { type: "snowflake"; database: string; schema: string; stage: string }
  | { type: "redshift"; database: string; schema: string }
  | { type: "databricks"; catalog: string; schema: string };

/**
 * The statements that make the tables of a warehouse, load what is in the store, and show of each row the latest version, of the
 * files whose run has a manifest. Source: docs/reference/warehouse.md#warehouses.
 */
export const setupSql = (target: Target, of: SetupOf): string =>
  `${statements(target, of)
    .map((one) => `${one};`)
    .join("\n\n")}\n`;

const statements = (target: Target, of: SetupOf): string[] => {
  switch (target.type) {
    case "bigquery":
      return bigquery(target, of);
    case "snowflake":
      return snowflake(target, of);
    case "redshift":
      return redshift(target, of);
    case "databricks":
      return databricks(target, of);
  }
};

export type StorePlace = { prefix: string } & (
  | { type: "s3" | "gcs"; bucket: string }
  | { type: "azure_blob"; account: string; container: string }
);

/** Where the files of a store are, as a warehouse calls it. */
export const filesAt = (store: StorePlace, { type }: Pick<Target, "type">): string => {
  const below = `${store.prefix === "" ? "" : `${store.prefix}/`}v1/`;
  if (store.type === "azure_blob") return `azure://${store.account}.blob.core.windows.net/${store.container}/${below}`;
  const scheme = store.type === "s3" ? "s3" : type === "bigquery" ? "gs" : "gcs";
  return `${scheme}://${store.bucket}/${below}`;
};

type Of<T extends Target["type"]> = Extract<Target, { type: T }>;

const bigquery = ({ project_id, dataset: of, location }: Of<"bigquery">, { files, datasets }: SetupOf): string[] => {
  const name = (table: string) => `\`${project_id}.${of}.${table}\``;
  return [
    `CREATE SCHEMA IF NOT EXISTS \`${project_id}.${of}\` OPTIONS (location = '${location}')`,
    `CREATE OR REPLACE EXTERNAL TABLE ${name(manifests)} (run_id STRING, chain STRING, sequence INT64)\n` +
      `OPTIONS (format = 'JSON', ignore_unknown_values = true, uris = ['${files}_manifests/*.json'])`,
    ...datasets.flatMap((dataset) => [
      `CREATE OR REPLACE EXTERNAL TABLE ${name(filesOf(dataset))}\n` +
        `OPTIONS (format = 'PARQUET', uris = ['${files}${dataset}/*.parquet'])`,
      viewOf(dataset, name),
    ]),
  ];
};

const snowflakeTypes: Types = {
  string: "VARCHAR",
  json: "VARCHAR",
  int: "NUMBER(19, 0)",
  decimal: "NUMBER(38, 9)",
  boolean: "BOOLEAN",
  timestamp: "TIMESTAMP_NTZ(6)",
};

const snowflake = ({ database, schema, stage }: Of<"snowflake">, { files, datasets, ...choice }: SetupOf): string[] => {
  const name = (table: string) => `${database}.${schema}.${table}`;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${database}.${schema}`,
    `CREATE FILE FORMAT IF NOT EXISTS ${name("herald_parquet")} TYPE = PARQUET USE_LOGICAL_TYPE = TRUE`,
    "-- the storage integration herald must be there, and allowed to read this place\n" +
      `CREATE STAGE IF NOT EXISTS ${name(stage)} URL = '${files}' STORAGE_INTEGRATION = herald`,
    `CREATE TABLE IF NOT EXISTS ${name(manifests)} (run_id VARCHAR, chain VARCHAR, sequence NUMBER(19, 0))`,
    `COPY INTO ${name(manifests)}\n` +
      `FROM (SELECT $1:run_id::VARCHAR, $1:chain::VARCHAR, $1:sequence::NUMBER FROM @${name(stage)}/_manifests/)\n` +
      "FILE_FORMAT = (TYPE = JSON)",
    ...datasets.flatMap((dataset) => [
      tableOf(name(filesOf(dataset)), columnsOf(dataset, choice), snowflakeTypes),
      `COPY INTO ${name(filesOf(dataset))} FROM @${name(stage)}/${dataset}/\n` +
        `FILE_FORMAT = (FORMAT_NAME = '${name("herald_parquet")}') MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE`,
      viewOf(dataset, name),
    ]),
  ];
};

const redshiftTypes: Types = {
  string: "VARCHAR(65535)",
  json: "VARCHAR(65535)",
  int: "BIGINT",
  decimal: "DECIMAL(38, 9)",
  boolean: "BOOLEAN",
  timestamp: "TIMESTAMP",
};

const redshift = ({ database, schema }: Of<"redshift">, { files, datasets, ...choice }: SetupOf): string[] => {
  const external = `${schema}_files`;
  const outside = (table: string) => `${external}.${table}`;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `CREATE EXTERNAL SCHEMA IF NOT EXISTS ${external} FROM DATA CATALOG DATABASE '${database}_${external}'\n` +
      "IAM_ROLE default CREATE EXTERNAL DATABASE IF NOT EXISTS",
    `CREATE EXTERNAL TABLE ${outside(manifests)} (run_id VARCHAR(64), chain VARCHAR(64), sequence BIGINT)\n` +
      `ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe' LOCATION '${files}_manifests/'`,
    ...datasets.flatMap((dataset) => [
      `CREATE EXTERNAL TABLE ${outside(filesOf(dataset))} (\n${columnLines(columnsOf(dataset, choice), redshiftTypes, false)}\n)\n` +
        `STORED AS PARQUET LOCATION '${files}${dataset}/'`,
      `${viewOf(dataset, (table) => (table === dataset ? `${schema}.${table}` : outside(table)))}\nWITH NO SCHEMA BINDING`,
    ]),
  ];
};

const databricksTypes: Types = {
  string: "STRING",
  json: "STRING",
  int: "BIGINT",
  decimal: "DECIMAL(38, 9)",
  boolean: "BOOLEAN",
  timestamp: "TIMESTAMP",
};

const databricks = ({ catalog, schema }: Of<"databricks">, { files, datasets, ...choice }: SetupOf): string[] => {
  const name = (table: string) => `${catalog}.${schema}.${table}`;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${catalog}.${schema}`,
    `CREATE TABLE IF NOT EXISTS ${name(manifests)} (run_id STRING, chain STRING, sequence BIGINT)`,
    `COPY INTO ${name(manifests)}\n` +
      `FROM (SELECT run_id, chain, CAST(sequence AS BIGINT) AS sequence FROM '${files}_manifests/')\n` +
      "FILEFORMAT = JSON",
    ...datasets.flatMap((dataset) => [
      tableOf(name(filesOf(dataset)), columnsOf(dataset, choice), databricksTypes),
      `COPY INTO ${name(filesOf(dataset))} FROM '${files}${dataset}/'\n` +
        "FILEFORMAT = PARQUET COPY_OPTIONS ('mergeSchema' = 'true')",
      viewOf(dataset, name),
    ]),
  ];
};

const manifests = "_hs_manifests";
const filesOf = (dataset: string): string => `${dataset}_files`;

type Types = Readonly<Record<ColumnType, string>>;

const tableOf = (name: string, columns: readonly WarehouseColumn[], types: Types): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (\n${columnLines(columns, types, true)}\n)`;

const columnLines = (columns: readonly WarehouseColumn[], types: Types, sayNull: boolean): string =>
  columns
    .map(({ name, type, nullable }) => `  ${name} ${types[type]}${sayNull && !nullable ? " NOT NULL" : ""}`)
    .join(",\n");

/** Of each row the latest version, of runs that have a manifest; a row that is gone has none. */
const viewOf = (dataset: WarehouseDataset, name: (table: string) => string): string => {
  const canGo = hasDeletions(dataset);
  const instant = dataset === "events" || dataset === "message_events" ? "received_at" : "updated_at";
  const order = `${canGo ? "_hs_deleted DESC, " : ""}${instant} DESC`;
  return [
    `CREATE OR REPLACE VIEW ${name(dataset)} AS`,
    "SELECT * FROM (",
    `  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ${order}) AS _hs_version`,
    `  FROM ${name(filesOf(dataset))}`,
    `  WHERE _hs_run_id IN (SELECT run_id FROM ${name(manifests)})`,
    `) AS versions WHERE _hs_version = 1${canGo ? " AND NOT _hs_deleted" : ""}`,
  ].join("\n");
};
