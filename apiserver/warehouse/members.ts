import { invalid, refuse } from "#core/errors.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type ChangedWarehouseDestination, warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import type { SealedSecrets } from "#core/storage/warehouse/exports.ts";
import { type Settings, settingErrors } from "#core/storage/warehouse/settings.ts";

/** Refuses what a schema cannot. @throws ValidationError */
export const checkMembers = (
  { problemOf }: Pick<AddressGuard, "problemOf">,
  body: Settings,
  datasets: readonly WarehouseDataset[],
): void => refuse(settingErrors(problemOf, body, datasets));

/** The secrets that a body has, sealed. */
export const sealedOf = (
  { seal }: Pick<KeyRing, "seal">,
  given: ChangedWarehouseDestination,
  placeOf: (name: string) => string,
): Partial<SealedSecrets> =>
  Object.fromEntries(
    warehouseSecrets.flatMap((name) => {
      const value = given[name];
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
