import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";

const { Array: List, Boolean: Flag, Enum, Optional, String: Text } = Type;

const keyPart = "[A-Za-z0-9_=-][A-Za-z0-9_=.-]*";
/** What the texts of a destination may look like, by their names in REST; resources have the same in camel case. */
export const destinationTexts = {
  bucket: {
    minLength: 3,
    maxLength: 63,
    pattern: worded(
      "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
      "must be a bucket's name: 3 to 63 small letters, digits, - and ., with a letter or digit at both ends",
    ),
  },
  region: {
    maxLength: 32,
    pattern: worded("^[a-z0-9-]{1,32}$", "must be the name of a region"),
    description: "default us-east-1",
  },
  prefix: {
    maxLength: 512,
    pattern: worded(
      `^(${keyPart}(/${keyPart})*)?$`,
      "must be names with a slash between them, of letters, digits, _, =, . and -",
    ),
    description: "what all keys begin with, without its last slash; default empty",
  },
  endpoint: {
    maxLength: 2000,
    format: "uri",
    pattern: patterns.httpAddress,
    description: "of a store other than the type's own; it is guarded as addresses of webhooks are",
  },
  account: {
    minLength: 3,
    maxLength: 24,
    pattern: worded("^[a-z0-9]{3,24}$", "must be the name of a storage account: 3 to 24 small letters and digits"),
  },
  container: {
    minLength: 3,
    maxLength: 63,
    pattern: worded(
      "^[a-z0-9](-?[a-z0-9])+$",
      "must be a container's name: 3 to 63 small letters, digits and single -, with a letter or digit at both ends",
    ),
  },
  kms_key_id: { minLength: 1, maxLength: 512, pattern: patterns.headerValue },
};

const texts = destinationTexts;

/** Kinds of stores: S3 and what speaks its protocol, Google Cloud Storage, Azure Blob Storage. */
export const destinationTypes = ["s3", "gcs", "azure_blob"] as const;
export type DestinationType = (typeof destinationTypes)[number];

/** Warehouses, whose files are kept in a store beside them. */
export const warehouseTypes = ["bigquery", "snowflake", "redshift", "databricks"] as const;
export type WarehouseType = (typeof warehouseTypes)[number];

/** The names of secrets. */
export const warehouseSecrets = [
  "access_key_id",
  "secret_access_key",
  "credentials_json",
  "sas_token",
  "account_key",
] as const;
export type WarehouseSecret = (typeof warehouseSecrets)[number];

/** What a type of destination is set up with. Of each group of secrets exactly one is given. */
export type DestinationRules = {
  needs: readonly string[];
  takes: readonly string[];
  secrets: readonly (readonly WarehouseSecret[])[];
};

/** Members of each type; the others are refused. Source: docs/reference/warehouse.md#destinations. */
export const destinationRules: Readonly<Record<DestinationType, DestinationRules>> = {
  s3: {
    needs: ["bucket"],
    takes: ["region", "prefix", "endpoint", "path_style", "sse", "kms_key_id"],
    secrets: [["access_key_id"], ["secret_access_key"]],
  },
  gcs: { needs: ["bucket"], takes: ["prefix", "endpoint"], secrets: [["credentials_json"]] },
  azure_blob: {
    needs: ["account", "container"],
    takes: ["prefix", "endpoint"],
    secrets: [["sas_token", "account_key"]],
  },
};

/** What belongs to a type of warehouse: its members, and the stores that it reads files from. */
export type WarehouseRules = {
  needs: readonly string[];
  takes: readonly string[];
  staging: readonly DestinationType[];
};

/** Members of each warehouse; the others are refused. Source: docs/reference/warehouse.md#warehouses. */
export const warehouseRules: Readonly<Record<WarehouseType, WarehouseRules>> = {
  bigquery: { needs: ["project_id", "dataset"], takes: ["location"], staging: ["gcs"] },
  snowflake: { needs: ["database", "schema", "stage"], takes: ["account"], staging: ["s3", "gcs", "azure_blob"] },
  redshift: { needs: ["database", "schema"], takes: [], staging: ["s3"] },
  databricks: { needs: ["catalog", "schema"], takes: [], staging: ["s3"] },
};

const stores = {
  type: Enum([...destinationTypes], {
    description:
      "s3: a bucket of S3, or of a store that speaks its protocol; gcs: Google Cloud Storage; azure_blob: Azure",
  }),
  bucket: Optional(Text({ ...texts.bucket, description: "of s3 and gcs" })),
  account: Optional(Text({ ...texts.account, description: "of azure_blob: the storage account" })),
  container: Optional(Text({ ...texts.container, description: "of azure_blob" })),
  region: Optional(Text({ ...texts.region, description: "of s3; default us-east-1" })),
  prefix: Optional(Text(texts.prefix)),
  endpoint: Optional(Nullable(Text(texts.endpoint))),
  path_style: Optional(Flag({ description: "of s3; default true with an endpoint, else false" })),
  sse: Optional(Enum(["none", "AES256", "aws:kms"], { description: "of s3: encryption by the store; default none" })),
  kms_key_id: Optional(Nullable(Text({ ...texts.kms_key_id, description: "of s3" }))),
};

/** What a plain name in SQL looks like. */
const identifier = {
  minLength: 1,
  maxLength: 63,
  pattern: worded("^[A-Za-z_][A-Za-z0-9_]*$", "must be a plain name: letters, digits and _, and no digit first"),
};

/** The same of a warehouse. */
export const warehouseTexts = {
  project_id: {
    maxLength: 30,
    pattern: worded("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", "must be the id of a Google Cloud project"),
    description: "of bigquery",
  },
  dataset: { ...identifier, description: "of bigquery: where tables are made" },
  location: {
    maxLength: 32,
    pattern: worded("^[A-Za-z0-9-]{2,32}$", "must be a location"),
    description: "of bigquery",
  },
  database: { ...identifier, description: "of snowflake and redshift" },
  catalog: { ...identifier, description: "of databricks" },
  schema: { ...identifier, description: "of snowflake, redshift and databricks" },
  stage: { ...identifier, description: "of snowflake: the name of the stage that is made" },
  account: {
    minLength: 1,
    maxLength: 255,
    pattern: worded("^[A-Za-z0-9][A-Za-z0-9._-]*$", "must be the name of an account"),
  },
};

const warehouses = {
  project_id: Optional(Text(warehouseTexts.project_id)),
  dataset: Optional(Text(warehouseTexts.dataset)),
  location: Optional(Text(warehouseTexts.location)),
  database: Optional(Text(warehouseTexts.database)),
  catalog: Optional(Text(warehouseTexts.catalog)),
  schema: Optional(Text(warehouseTexts.schema)),
  stage: Optional(Text(warehouseTexts.stage)),
};

const Secret = { minLength: 1, maxLength: 512, pattern: patterns.headerValue };

type SecretText = { minLength: number; maxLength: number; pattern: string; description: string };

/** What secrets may look like. */
export const secretTexts: Readonly<Record<WarehouseSecret, SecretText>> = {
  access_key_id: { ...Secret, description: "of s3" },
  secret_access_key: { ...Secret, description: "of s3" },
  credentials_json: {
    ...Secret,
    maxLength: 16_384,
    pattern: patterns.noNull,
    description: "of gcs: the file of a service account",
  },
  sas_token: { ...Secret, maxLength: 2_000, description: "of azure_blob: a shared access signature of the container" },
  account_key: { ...Secret, description: "of azure_blob, in place of `sas_token`" },
};

const secrets = {
  access_key_id: Optional(Text(secretTexts.access_key_id)),
  secret_access_key: Optional(Text(secretTexts.secret_access_key)),
  credentials_json: Optional(Text(secretTexts.credentials_json)),
  sas_token: Optional(Text(secretTexts.sas_token)),
  account_key: Optional(Text(secretTexts.account_key)),
};

/** A store, with its secrets, which are never shown. */
const StoreInput = Closed({ ...stores, ...secrets });
export type StoreInput = Static<typeof StoreInput>;

/**
 * Where an export writes: a store, or a warehouse with the store in front of it. As it is set up or changed, with secrets, which
 * are never shown; in a change those left out stay.
 */
export const WarehouseDestinationInput = Closed({
  ...stores,
  ...secrets,
  ...warehouses,
  type: Enum([...destinationTypes, ...warehouseTypes], {
    description:
      "s3: a bucket of S3, or of a store that speaks its protocol; gcs: Google Cloud Storage; azure_blob: Azure; " +
      "bigquery, snowflake, redshift, databricks: a warehouse that reads from the store `staging`",
  }),
  account: Optional(
    Text({
      ...warehouseTexts.account,
      description: "of azure_blob: the storage account, 3 to 24 small letters and digits; of snowflake",
    }),
  ),
  staging: Optional(StoreInput),
});
export type WarehouseDestinationInput = Static<typeof WarehouseDestinationInput>;

const shownStore = {
  bucket: Optional(Text()),
  account: Optional(Text()),
  container: Optional(Text()),
  region: Optional(Text()),
  prefix: Text(),
  endpoint: Nullable(Text()),
  path_style: Optional(Flag()),
  sse: Optional(Text()),
  kms_key_id: Optional(Nullable(Text())),
};

/** As it is shown: the members of its type, without secrets. */
export const WarehouseDestination = Type.Object({
  ...shownStore,
  type: Enum([...destinationTypes, ...warehouseTypes]),
  prefix: Optional(Text()),
  endpoint: Optional(Nullable(Text())),
  project_id: Optional(Text()),
  dataset: Optional(Text()),
  location: Optional(Text()),
  database: Optional(Text()),
  catalog: Optional(Text()),
  schema: Optional(Text()),
  stage: Optional(Text()),
  staging: Optional(Type.Object({ ...shownStore, type: Enum([...destinationTypes]) })),
  secret_names: List(Text()),
  secrets_updated_at: DateTime,
});
