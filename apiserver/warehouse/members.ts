import { invalid, refuse } from "#core/errors.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type WarehouseDestinationInput, warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { destinationSecretErrors, storeOf } from "#core/storage/warehouse/destinations.ts";
import type { SealedSecrets, WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { type Settings, settingErrors } from "#core/storage/warehouse/settings.ts";

type Members = Omit<Settings, "destination"> & { destination?: WarehouseDestinationInput | undefined };

/** Refuses what a schema cannot. `of` is the export that is changed or tried; null: a new one. @throws ValidationError */
export const checkMembers = (
  { problemOf }: Pick<AddressGuard, "problemOf">,
  body: Members,
  datasets: readonly WarehouseDataset[],
  of: Pick<WarehouseExportRow, "destination" | "warehouse"> | null,
): void => {
  const { destination } = body;
  if (of?.warehouse !== undefined && body.format !== undefined && body.format !== "parquet")
    throw invalid("format", `must be parquet: ${of.warehouse.type} reads that`);
  if (destination !== undefined && of !== null) requireType(destination, of);
  refuse([
    ...settingErrors(problemOf, body, datasets),
    ...(destination === undefined ? [] : destinationSecretErrors(destination, { isNew: of === null })),
  ]);
};

/** Files and manifests of a chain stay in one store. */
const requireType = (given: WarehouseDestinationInput, of: Pick<WarehouseExportRow, "destination" | "warehouse">) => {
  const type = of.warehouse?.type ?? of.destination.type;
  if (given.type !== type) throw invalid("destination.type", `cannot be changed: it is ${type}`);
  if (given.staging !== undefined && given.staging.type !== of.destination.type)
    throw invalid("destination.staging.type", `cannot be changed: it is ${of.destination.type}`);
};

/** The secrets that a body has, sealed. */
export const sealedOf = (
  { seal }: Pick<KeyRing, "seal">,
  given: WarehouseDestinationInput,
  placeOf: (name: string) => string,
): SealedSecrets =>
  Object.fromEntries(
    warehouseSecrets.flatMap((name) => {
      const value = storeOf(given)[name];
      return value === undefined ? [] : [[name, seal(value, placeOf(name))]];
    }),
  );

/** @throws ValidationError for an instant that is to come, or before what the app keeps */
export const requireKept = (field: string, at: Date, { now, keptDays }: { now: Date; keptDays: number }): void => {
  if (at > now) throw invalid(field, "must not be in the future");
  const first = new Date(now.getTime() - keptDays * dayMs);
  if (at < first) throw invalid(field, `must not be before ${first.toISOString()}: the plan keeps ${keptDays} days`);
};

const dayMs = 86_400_000;
