import { isDeepStrictEqual } from "node:util";
import { BadSecret } from "#core/channels/kit/secret-text.ts";
import type { FieldError } from "#core/errors.ts";
import { ifOpenable, type KeyRing } from "#core/runtime/process/key-ring.ts";
import { camelCase } from "#core/schema/apps/settings-resource.ts";
import { warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import type { WarehouseExportSpec, WarehouseExportStatus } from "#core/schema/warehouse/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type SealedSecrets, type WarehouseExportRow, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { destinationOf, type Settings, scheduleOf } from "#core/storage/warehouse/settings.ts";
import { type Finding, refused } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

/** The members that are the resource's; whether it is paused is the REST interface's. */
export const ownMembers = [
  "name",
  "destination",
  "secrets",
  "datasets",
  "excluded_columns",
  "format",
  "compression",
  "schedule",
];

/** What an export's document says as its resource does, but for its secrets. */
export const membersOf = (spec: WarehouseExportSpec, app: AppRow) =>
  ({
    tenant_id: app.tenant_id,
    app_id: app._id,
    name: spec.name,
    destination: destinationOf(settingsOf(spec).destination),
    datasets: [...spec.datasets],
    excluded_columns: [...(spec.excludedColumns ?? [])],
    format: spec.format,
    compression: spec.compression ?? "snappy",
    schedule: scheduleOf(settingsOf(spec).schedule),
  }) satisfies Partial<WarehouseExportRow>;

/** A spec as the REST interface has it. */
export const settingsOf = (spec: WarehouseExportSpec) => {
  const { pathStyle, kmsKeyId, secretRef: _, ...destination } = spec.destination;
  const { startAt, excludeWindow, ...schedule } = spec.schedule;
  return {
    destination: {
      ...destination,
      ...(pathStyle !== undefined && { path_style: pathStyle }),
      ...(kmsKeyId !== undefined && { kms_key_id: kmsKeyId }),
    },
    schedule: { ...schedule, start_at: startAt, exclude_window: excludeWindow ?? null },
    excluded_columns: spec.excludedColumns ?? [],
    format: spec.format,
    ...(spec.compression !== undefined && { compression: spec.compression }),
  } satisfies Settings;
};

/** The first fault as a condition. */
export const faultOf = ([fault]: readonly FieldError[]): Finding | null => {
  if (fault === undefined) return null;
  const reason = fault.field === "destination.endpoint" ? "AddressRefused" : "SettingInvalid";
  return refused(reason, `spec.${camelCase(fault.field)}: ${fault.message}`);
};

type Opened = Record<keyof SealedSecrets, string>;

/** The secrets of a destination, or what is wrong with its Secret. */
export const secretsOf = (
  { destination: { secretRef } }: WarehouseExportSpec,
  secrets: SecretValues,
): { secrets: Opened } | { finding: Finding } =>
  fromSecrets(secrets, (read) => ({
    secrets: Object.fromEntries(
      warehouseSecrets.map((name) => [name, read(secretRef, name, secretText, "spec.destination.secretRef")]),
    ) as Opened, // sound: of all names
  }));

/** As the REST interface takes them. */
const secretText = (text: string): string => {
  if (text.length > mostCharacters) throw new BadSecret(`is longer than ${mostCharacters} characters`);
  if (!/^[\t\x20-\x7e]*$/.test(text)) throw new BadSecret("holds other characters than printable ASCII");
  return text;
};

const mostCharacters = 512;

/** Seals secrets for storage; what is stored already is kept when it opens to the same. */
export const sealSecrets = (
  keyRing: KeyRing,
  id: string,
  secrets: Opened,
  stored: SealedSecrets | null,
): SealedSecrets => {
  const placeOf = (name: string) => warehouseSecretPlace(id, name);
  const each = <T>(make: (name: keyof Opened) => T) =>
    Object.fromEntries(warehouseSecrets.map((name) => [name, make(name)])) as Record<keyof Opened, T>; // sound: of all names
  const opened = stored && ifOpenable(() => each((name) => keyRing.open(stored[name], placeOf(name))));
  const isStale = stored !== null && warehouseSecrets.some((name) => keyRing.isStale(stored[name]));
  return stored !== null && !isStale && isDeepStrictEqual(opened, secrets)
    ? stored
    : each((name) => keyRing.seal(secrets[name], placeOf(name)));
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
