import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";
import { WarehouseTestResult } from "./export.ts";

const { Boolean: Flag, Enum, Object: Members, Optional, String: Text } = Type;

const Sealed = Members({ kid: Text(), data: Text() });

/** What an apiserver asks a dispatcher to try. Secrets are sealed for the export of this id. */
export const WarehouseTestRequest = Members({
  export_id: Text({ minLength: 1, maxLength: 64 }),
  destination: Members({
    type: Enum(["s3"]),
    bucket: Text(),
    region: Text(),
    prefix: Text(),
    endpoint: Nullable(Text()),
    path_style: Flag(),
    sse: Enum(["none", "AES256", "aws:kms"]),
    kms_key_id: Nullable(Text()),
  }),
  secrets: Members({ access_key_id: Sealed, secret_access_key: Sealed }),
});
export type WarehouseTestRequest = Static<typeof WarehouseTestRequest>;

/** What it answers. */
export const WarehouseTestReply = Members({
  outcome: Enum(["tested", "busy", "failed"]),
  steps: Optional(WarehouseTestResult.properties.steps),
});
export type WarehouseTestReply = Static<typeof WarehouseTestReply>;
