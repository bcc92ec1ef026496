import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { CreateWarehouseExport, UpdateWarehouseExport } from "#core/schema/warehouse/export.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { destinationOf, mergedSecrets, targetOf } from "#core/storage/warehouse/destinations.ts";
import { type SealedSecrets, type WarehouseExportRow, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { beginningOf, newWatermarks, scheduleOf } from "#core/storage/warehouse/settings.ts";
import type { By } from "../settings/audit.ts";
import { newSetting, type Settings } from "../settings/settings.ts";
import { checkMembers, requireKept, sealedOf } from "./members.ts";
import type { TestDestination } from "./test.ts";

export type SaveDeps = {
  settings: Pick<Settings<WarehouseExportRow>, "create" | "change">;
  findByName: (of: OfApp, name: string) => Promise<WarehouseExportRow | null>;
  guard: Pick<AddressGuard, "problemOf">;
  secrets: Pick<KeyRing, "seal">;
  test: TestDestination;
  clock: Clock;
};

/** Refuses what could never be made. @throws ValidationError */
export const checkNew = ({ guard }: Pick<SaveDeps, "guard">, body: CreateWarehouseExport): void =>
  checkMembers(guard, body, body.datasets, null);

/** Makes an export, whose destination was tried before. @throws AppError HS_DESTINATION_UNREACHABLE, HS_ALREADY_EXISTS */
export const createWarehouseExport =
  (deps: SaveDeps) =>
  async (by: By, app: AppRow, id: string, body: CreateWarehouseExport): Promise<WarehouseExportRow> => {
    const { settings, secrets, clock, findByName } = deps;
    checkNew(deps, body);
    const now = clock.now();
    const since = body.start_from === undefined ? now : new Date(body.start_from);
    requireKept("start_from", since, { now, keptDays: by.caller.plan.retention_days });
    const other = await findByName({ tenantId: app.tenant_id, appId: app._id }, body.name);
    if (other !== null && other._id !== id) throw taken(other._id);
    const [destination, target] = [destinationOf(body.destination), targetOf(body.destination)];
    const sealed = sealedOf(secrets, body.destination, (name) => warehouseSecretPlace(id, name));
    if (body.test !== false) await deps.test(app._id, { id, destination, secrets: sealed });
    return settings.create(by, {
      ...newSetting(app, id, now),
      name: body.name,
      destination,
      ...(target !== null && { warehouse: target }),
      secrets: sealed,
      secrets_updated_at: now,
      datasets: body.datasets,
      event_names: body.event_names ?? null,
      excluded_columns: body.excluded_columns ?? [],
      include_pii: body.include_pii ?? false,
      format: body.format ?? (target === null ? "jsonl" : "parquet"),
      ...(body.compression !== undefined && { compression: body.compression }),
      schedule: scheduleOf(body.schedule),
      ...beginningOf(body.datasets, since, now),
    });
  };

/** Changes an export; a run that has begun goes on as the export was then. @throws as above */
export const updateWarehouseExport =
  (deps: SaveDeps) =>
  async (by: By, found: WarehouseExportRow, body: UpdateWarehouseExport): Promise<WarehouseExportRow> => {
    const { settings, secrets, clock, findByName } = deps;
    const { destination: given, test, schedule, datasets, ...plain } = body;
    checkMembers(deps.guard, { ...body, format: body.format ?? found.format }, datasets ?? found.datasets, found);
    if (plain.name !== undefined) {
      const other = await findByName(ofRow(found), plain.name);
      if (other !== null && other._id !== found._id) throw taken(other._id);
    }
    const sealed = given === undefined ? {} : sealedOf(secrets, given, (name) => warehouseSecretPlace(found._id, name));
    const merged = (stored: SealedSecrets) => mergedSecrets(found.destination.type, stored, sealed);
    const destination = given && destinationOf(given);
    const target = given && targetOf(given);
    if (destination !== undefined && test !== false)
      await deps.test(found.app_id, { id: found._id, destination, secrets: merged(found.secrets) });
    const hasSecrets = Object.keys(sealed).length > 0;
    return settings.change(by, "updated", found, (row, now) => ({
      set: {
        ...plain,
        ...(destination && { destination }),
        ...(target && { warehouse: target }),
        ...(hasSecrets && { secrets: merged(row.secrets), secrets_updated_at: now }),
        ...(schedule && { schedule: scheduleOf(schedule), due_at: clock.now() }),
        ...(datasets && {
          datasets,
          ...newWatermarks(row, datasets, now),
          ...(!datasets.includes("events") && { event_names: null }),
          excluded_columns: (plain.excluded_columns ?? row.excluded_columns).filter((name) =>
            datasets.some((dataset) => name.startsWith(`${dataset}.`)),
          ),
        }),
      },
    }));
  };

/** Another export of the app has the name. */
export const taken = (id: string | null): AppError =>
  new AppError("HS_ALREADY_EXISTS", "the app has a warehouse export of this name", { field: "name", id });
