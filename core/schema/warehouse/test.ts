import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";
import { WarehouseTestResult } from "./export.ts";

const { Boolean: Flag, Enum, Object: Members, Optional, String: Text } = Type;

const Sealed = Optional(Members({ kid: Text(), data: Text() }));

const destinations = {
  s3: Members({
    type: Type.Literal("s3"),
    bucket: Text(),
    region: Text(),
    prefix: Text(),
    endpoint: Nullable(Text()),
    path_style: Flag(),
    sse: Enum(["none", "AES256", "aws:kms"]),
    kms_key_id: Nullable(Text()),
  }),
  gcs: Members({ type: Type.Literal("gcs"), bucket: Text(), prefix: Text(), endpoint: Nullable(Text()) }),
  azure_blob: Members({
    type: Type.Literal("azure_blob"),
    account: Text(),
    container: Text(),
    prefix: Text(),
    endpoint: Nullable(Text()),
  }),
};

/** What an apiserver asks a dispatcher to try. Secrets are sealed for the export of this id. */
export const WarehouseTestRequest = Members({
  export_id: Text({ minLength: 1, maxLength: 64 }),
  destination: Type.Union([destinations.s3, destinations.gcs, destinations.azure_blob]),
  secrets: Members({
    access_key_id: Sealed,
    secret_access_key: Sealed,
    credentials_json: Sealed,
    sas_token: Sealed,
    account_key: Sealed,
  }),
});
export type WarehouseTestRequest = Static<typeof WarehouseTestRequest>;

/** What it answers. */
export const WarehouseTestReply = Members({
  outcome: Enum(["tested", "busy", "failed"]),
  steps: Optional(WarehouseTestResult.properties.steps),
});
export type WarehouseTestReply = Static<typeof WarehouseTestReply>;
