import { isDeepStrictEqual } from "node:util";
import { BadSecret } from "#core/channels/kit/secret-text.ts";
import type { FieldError } from "#core/errors.ts";
import { ifOpenable, type KeyRing } from "#core/runtime/process/key-ring.ts";
import { camelCase } from "#core/schema/apps/settings-resource.ts";
import { destinationRules, secretTexts, type WarehouseSecret } from "#core/schema/warehouse/destination.ts";
import type { WarehouseExportSpec, WarehouseExportStatus } from "#core/schema/warehouse/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import {
  type DestinationSettings,
  destinationOf,
  type StoreSettings,
  secretErrors,
  targetOf,
} from "#core/storage/warehouse/destinations.ts";
import { type SealedSecrets, type WarehouseExportRow, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { type Settings, scheduleOf } from "#core/storage/warehouse/settings.ts";
import { type Finding, refused } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

/** The members that are the resource's; whether it is paused is the REST interface's. */
export const ownMembers = [
  "name",
  "destination",
  "secrets",
  "warehouse",
  "datasets",
  "event_names",
  "include_pii",
  "excluded_columns",
  "format",
  "compression",
  "schedule",
];

/** What an export's document says as its resource does, but for its secrets. */
export const membersOf = (spec: WarehouseExportSpec, app: AppRow): Members => {
  const { destination } = settingsOf(spec);
  const target = targetOf(destination);
  return {
    tenant_id: app.tenant_id,
    app_id: app._id,
    name: spec.name,
    destination: destinationOf(destination),
    ...(target !== null && { warehouse: target }),
    datasets: [...spec.datasets],
    event_names: spec.eventNames === undefined ? null : [...spec.eventNames],
    include_pii: spec.includePii,
    excluded_columns: [...(spec.excludedColumns ?? [])],
    format: spec.format,
    compression: spec.compression ?? "snappy",
    schedule: scheduleOf(settingsOf(spec).schedule),
  };
};

type Members = Pick<
  WarehouseExportRow,
  "tenant_id" | "app_id" | "name" | "destination" | "warehouse" | "datasets" | "event_names" | "include_pii"
> &
  Pick<WarehouseExportRow, "excluded_columns" | "format" | "compression" | "schedule">;

/** A spec as the REST interface has it. */
export const settingsOf = (spec: WarehouseExportSpec) => {
  const { pathStyle, kmsKeyId, sse, secretRef: _, ...destination } = spec.destination;
  const store = {
    ...destination,
    ...(destination.type === "s3" && { sse }),
    ...(pathStyle !== undefined && { path_style: pathStyle }),
    ...(kmsKeyId !== undefined && { kms_key_id: kmsKeyId }),
  };
  const { startAt, excludeWindow, ...schedule } = spec.schedule;
  return {
    destination: spec.warehouse === undefined ? store : warehouseOf(spec.warehouse, store),
    schedule: { ...schedule, start_at: startAt, exclude_window: excludeWindow ?? null },
    event_names: spec.eventNames ?? null,
    excluded_columns: spec.excludedColumns ?? [],
    format: spec.format,
    ...(spec.compression !== undefined && { compression: spec.compression }),
  } satisfies Settings;
};

/** A warehouse with the store in front of it. */
const warehouseOf = (
  { projectId, ...warehouse }: NonNullable<WarehouseExportSpec["warehouse"]>,
  staging: StoreSettings,
): DestinationSettings => ({ ...warehouse, ...(projectId !== undefined && { project_id: projectId }), staging });

/** The first fault as a condition, under the names that a resource has. */
export const faultOf = ([fault]: readonly FieldError[], { warehouse }: WarehouseExportSpec): Finding | null => {
  if (fault === undefined) return null;
  const field = warehouse === undefined ? fault.field : inResource(fault.field);
  const reason = field === "destination.endpoint" ? "AddressRefused" : "SettingInvalid";
  return refused(reason, `spec.${camelCase(field)}: ${fault.message}`);
};

const inResource = (field: string): string =>
  field.startsWith("destination.staging.")
    ? field.replace("destination.staging.", "destination.")
    : field.replace(/^destination\./, "warehouse.");

type Opened = Partial<Record<WarehouseSecret, string>>;

/** The secrets of a destination, or what is wrong with its Secret. Of secrets that may stand for each other it has one. */
export const secretsOf = (
  { destination: { type, secretRef } }: WarehouseExportSpec,
  secrets: SecretValues,
): { secrets: Opened } | { finding: Finding } => {
  const given = secrets.get(secretRef.name) ?? {};
  const named = destinationRules[type].secrets.map((group) => group.find((name) => given[name]) ?? group[0]);
  return fromSecrets(secrets, (read) => ({
    secrets: Object.fromEntries(
      named.flatMap((name) =>
        name === undefined ? [] : [[name, read(secretRef, name, secretText(type, name), "spec.destination.secretRef")]],
      ),
    ),
  }));
};

/** As the REST interface takes them. */
const secretText =
  (type: StoreSettings["type"], name: WarehouseSecret) =>
  (text: string): string => {
    const { maxLength } = secretTexts[name];
    if (text.length > maxLength) throw new BadSecret(`is longer than ${maxLength} characters`);
    if (name !== "credentials_json" && !/^[\t\x20-\x7e]*$/.test(text))
      throw new BadSecret("holds other characters than printable ASCII");
    const [error] = secretErrors(type, { [name]: text }, { isNew: false });
    if (error !== undefined) throw new BadSecret(error.message);
    return text;
  };

/** Seals secrets for storage; what is stored already is kept when it opens to the same. */
export const sealSecrets = (
  keyRing: KeyRing,
  id: string,
  secrets: Opened,
  stored: SealedSecrets | null,
): SealedSecrets => {
  const placeOf = (name: string) => warehouseSecretPlace(id, name);
  const kept = Object.entries(stored ?? {});
  const opened = ifOpenable(() =>
    Object.fromEntries(kept.map(([name, sealed]) => [name, keyRing.open(sealed, placeOf(name))])),
  );
  const isStale = kept.some(([, sealed]) => keyRing.isStale(sealed));
  return stored !== null && !isStale && isDeepStrictEqual(opened, secrets)
    ? stored
    : Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, keyRing.seal(text, placeOf(name))]));
};

/** How an export stands. */
export const statusOf = (row: Partial<WarehouseExportRow>): Partial<WarehouseExportStatus> => ({
  ...(row.app_id !== undefined && { appId: row.app_id }),
  ...(row.status !== undefined && { state: row.status }),
  ...(row.pause_reason != null && { pauseReason: row.pause_reason.slice(0, 200) }),
  watermarks: Object.entries(row.watermarks ?? {})
    .map(([dataset, at]) => ({ dataset, at: at.toISOString() }))
    .sort((a, b) => (a.dataset < b.dataset ? -1 : 1)),
  ...(row.last_run != null && {
    lastRun: {
      id: row.last_run.id,
      status: row.last_run.status,
      rowCount: row.last_run.row_count,
      completedAt: row.last_run.completed_at.toISOString(),
    },
  }),
});
