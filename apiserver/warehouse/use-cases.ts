import type { Db } from "mongodb";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import {
  type CreateWarehouseExport,
  type WarehouseExportMade,
  warehouseLimits,
} from "#core/schema/warehouse/export.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { type WarehouseExportRow, warehouseExports } from "#core/storage/warehouse/exports.ts";
import { hashKeys } from "#core/storage/warehouse/hash-keys.ts";
import { warehouseRuns } from "#core/storage/warehouse/runs.ts";
import type { Cursors } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import type { By } from "../settings/audit.ts";
import { type SettingsPlatform, settings as settingsOf } from "../settings/settings.ts";
import { listExports, listRuns } from "./lists.ts";
import { beginRun } from "./runs.ts";
import { checkNew, createWarehouseExport, taken, updateWarehouseExport } from "./save.ts";
import { pauseExport, resumeExport } from "./state.ts";
import { requireReachable, testSaved, testSteps } from "./test.ts";
import { reportedExport, warehouseExportView, warehouseRunView } from "./views.ts";

export type WarehousePlatform = SettingsPlatform & {
  db: Db;
  nats: Pick<LateNats, "ask">;
  subjects: Pick<Subjects, "warehouseTests">;
  addresses: { guard: AddressGuard };
  secrets: KeyRing;
  limit: NarrowLimit;
  cursors: Cursors;
};

export type WarehouseUse = ReturnType<typeof warehouseUseCases>;

/** What the operations on warehouse exports do. */
export const warehouseUseCases = (platform: WarehousePlatform) => {
  const { db, clock, cursors, limit, secrets } = platform;
  const { guard } = platform.addresses;
  const [store, runs] = [warehouseExports(db), warehouseRuns(db)];
  const settings = settingsOf(platform, {
    what: "warehouse export",
    store,
    view: warehouseExportView,
    report: reportedExport,
    plan: { feature: "warehouse_export", metric: "warehouse_exports", most: warehouseLimits.exports },
    taken: async (row: WarehouseExportRow) => taken((await store.findByName(ofRow(row), row.name))?._id ?? null),
  });
  const [test, hashKeyOf] = [testSteps(platform), hashKeys(db, secrets)];
  const saving = { settings, findByName: store.findByName, guard, secrets, test: requireReachable(test), clock };
  return {
    ...settings,
    /** Shows the app's key of hashes as well. */
    viewMade: async (row: WarehouseExportRow): Promise<WarehouseExportMade> => ({
      ...settings.view(row),
      hash_key: await hashKeyOf(ofRow(row)),
    }),
    page: listExports(store, { cursors, view: settings.view }),
    check: (body: CreateWarehouseExport): void => checkNew(saving, body),
    create: createWarehouseExport(saving),
    update: updateWarehouseExport(saving),

    /** Its open run ends; files that are written stay. @throws AppError HS_MANAGED when a resource enforces it */
    remove: async (by: By, found: WarehouseExportRow): Promise<void> => {
      await settings.remove(by, found);
      await runs.cancelOpen(found._id, clock.now());
    },

    test: testSaved({ guard, secrets, test }),
    pause: pauseExport({ settings }),
    resume: resumeExport({ settings, runs }),
    backfill: beginRun({ runs, limit, clock }),
    findRun: runs.find,
    viewRun: warehouseRunView,

    listRuns: listRuns(runs, cursors),
  };
};
