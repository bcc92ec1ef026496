import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";

const { Array: List, Boolean: Flag, Enum, Optional, String: Text } = Type;

const keyPart = "[A-Za-z0-9_=-][A-Za-z0-9_=.-]*";
const Secret = Text({ minLength: 1, maxLength: 512, pattern: patterns.headerValue });

/** What the texts of a destination may look like, in REST and in resources. */
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
    description: "of a store other than AWS; it is guarded as addresses of webhooks are",
  },
  kmsKeyId: { minLength: 1, maxLength: 512, pattern: patterns.headerValue },
};

const texts = destinationTexts;

const s3 = {
  type: Enum(["s3"], { description: "a bucket of S3, or of a store that speaks its protocol" }),
  bucket: Text(texts.bucket),
  region: Optional(Text(texts.region)),
  prefix: Optional(Text(texts.prefix)),
  endpoint: Optional(Nullable(Text(texts.endpoint))),
  path_style: Optional(Flag({ description: "default true with an endpoint, else false" })),
  sse: Optional(Enum(["none", "AES256", "aws:kms"], { description: "encryption by the store; default none" })),
  kms_key_id: Optional(Nullable(Text(texts.kmsKeyId))),
};

/** The names of a destination's secrets. */
export const warehouseSecrets = ["access_key_id", "secret_access_key"] as const;
export type WarehouseSecret = (typeof warehouseSecrets)[number];

/** Where an export writes: as it is set up, with its secrets, which are never shown. */
export const NewWarehouseDestination = Closed({ ...s3, access_key_id: Secret, secret_access_key: Secret });
export type NewWarehouseDestination = Static<typeof NewWarehouseDestination>;

/** The same for a change: a secret that is left out stays. */
export const ChangedWarehouseDestination = Closed({
  ...s3,
  access_key_id: Optional(Secret),
  secret_access_key: Optional(Secret),
});
export type ChangedWarehouseDestination = Static<typeof ChangedWarehouseDestination>;

/** As it is shown: without its secrets. */
export const WarehouseDestination = Type.Object({
  type: Enum(["s3"]),
  bucket: Text(),
  region: Text(),
  prefix: Text(),
  endpoint: Nullable(Text()),
  path_style: Flag(),
  sse: Text(),
  kms_key_id: Nullable(Text()),
  secret_names: List(Text()),
  secrets_updated_at: DateTime,
});
