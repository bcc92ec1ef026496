import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { testServers } from "../servers/servers.ts";
import type { Sending } from "../system/sending.ts";

/** Settings with which programs can do everything that `exercise` asks of them. */
export const exerciseEnv = async ({ system }: Sending): Promise<Record<string, string>> => {
  const tenant = await system.db.collection<TenantRow>("tenants").findOne({ _id: system.tenantId });
  return {
    ...s3Settings((await testServers()).s3Url),
    HERALD_S3_PREFIX: `${system.prefix}/`,
    HERALD_ALLOWED_RANGES: "127.0.0.0/8",
    HERALD_OPERATING_TENANT: tenant?.name ?? "",
  };
};
