import { randomUUID } from "node:crypto";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import {
  type WarehouseDestinationInput,
  type WarehouseSecret,
  warehouseSecrets,
} from "#core/schema/warehouse/destination.ts";
import type { ConversionRow } from "#core/storage/events/conversions.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { destinationOf } from "#core/storage/warehouse/destinations.ts";
import { type SealedSecrets, type WarehouseExportRow, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { testKeyRing } from "./fixtures.ts";

/** The members of a destination in the bucket of a test's store, below a prefix of its own. */
export const s3Destination = (url: string) => {
  const settings = s3Settings(url);
  return {
    type: "s3" as const,
    bucket: settings["HERALD_S3_BUCKET"] ?? "",
    endpoint: settings["HERALD_S3_ENDPOINT"] ?? "",
    region: "us-east-1",
    prefix: `wh/${randomUUID()}`,
    access_key_id: settings["HERALD_S3_ACCESS_KEY_ID"] ?? "",
    secret_access_key: settings["HERALD_S3_SECRET_ACCESS_KEY"] ?? "",
  };
};

/** An export to such a destination, of what changed since an hour ago. */
export const aWarehouseExport = (
  destination: WarehouseDestinationInput,
  over: Partial<WarehouseExportRow> & Pick<WarehouseExportRow, "tenant_id" | "app_id">,
): WarehouseExportRow => {
  const now = new Date();
  const since = new Date(now.getTime() - 3_600_000);
  const _id = newId("warehouseExport", now);
  return {
    _id,
    name: _id,
    destination: destinationOf(destination),
    secrets: sealedFor(_id, destination),
    secrets_updated_at: now,
    datasets: ["deliveries"],
    excluded_columns: [],
    format: "jsonl",
    schedule: { frequency: "15m", start_at: "00:00", timezone: "UTC", exclude_window: null },
    status: "active",
    pause_reason: null,
    failure_count: 0,
    failing_since: null,
    watermarks: { deliveries: since },
    chain: { sequence: 0, run_id: null, key: null, sha256: null },
    scheduled_until: since,
    last_run: null,
    managed: null,
    created_at: now,
    updated_at: now,
    due_at: now,
    lease: null,
    fence: 0,
    ...over,
  };
};

/** The secrets of a destination as an export of this id has them. */
export const sealedFor = (id: string, given: Partial<Record<WarehouseSecret, string>>): SealedSecrets =>
  Object.fromEntries(
    warehouseSecrets.flatMap((name) => {
      const text = given[name];
      return text === undefined ? [] : [[name, keyRing(testKeyRing).seal(text, warehouseSecretPlace(id, name))]];
    }),
  );

/** A custom event that counts for a delivery. */
export const aConversion = (
  { message_id, _id, subscription_id, user_id, channel, tenant_id, app_id }: DeliveryRow,
  at: Date,
): ConversionRow => ({
  _id: newId("event", at),
  tenant_id,
  app_id,
  event_id: newId("event", at),
  event_name: "order.paid",
  person: user_id,
  user_id,
  external_id: null,
  value: 5,
  attribution: "direct",
  message_id,
  delivery_id: _id,
  subscription_id,
  channel,
  among: [],
  occurred_at: at,
  created_at: at,
});
