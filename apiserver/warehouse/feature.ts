import {
  BackfillWarehouseExport,
  CreateWarehouseExport,
  PauseWarehouseExport,
  ResumeWarehouseExport,
  TestWarehouseExport,
  UpdateWarehouseExport,
  WarehouseExport,
  WarehouseExportListQuery,
  WarehouseExportMade,
  WarehouseExportPage,
  WarehouseRun,
  WarehouseRunListQuery,
  WarehouseRunPage,
  WarehouseTestResult,
} from "#core/schema/warehouse/export.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { feature } from "../http/feature.ts";
import { routeOf } from "../http/route.ts";
import { locateSetting, settingRoutes } from "../settings/routes.ts";
import { docs } from "./openapi.ts";
import { checkBackfill } from "./runs.ts";
import { type WarehouseUse, warehouseUseCases } from "./use-cases.ts";

const tag = "Warehouse exports";
const path = "/v1/apps/{appId}/warehouse-exports";
const ofOne = `${path}/{warehouseExportId}`;
const named = { what: "warehouse export", parameter: "warehouseExportId" };
const plan = { feature: "warehouse_export" } as const;

const schemas = {
  create: CreateWarehouseExport,
  update: UpdateWarehouseExport,
  view: WarehouseExport,
  made: WarehouseExportMade,
  list: WarehouseExportPage,
  query: WarehouseExportListQuery,
};

const usual = settingRoutes<WarehouseExportRow, typeof schemas>({
  ...named,
  ...plan,
  name: "WarehouseExport",
  tag,
  path,
  idKind: "warehouseExport",
  schemas,
  summaries: {
    list: "List the warehouse exports of an app, the newest first",
    create: "Have what changes in an app written to a bucket, again and again",
    get: "Show a warehouse export",
    update: "Change a warehouse export",
    remove: "Remove a warehouse export; its files stay",
  },
  errors: ["HS_ALREADY_EXISTS", "HS_DESTINATION_UNREACHABLE"],
});

const route = routeOf<WarehouseUse>({ tag, scopes: ["admin"] });
const locate = locateSetting<WarehouseExportRow>(named);

const others = [
  route({
    id: "testWarehouseExport",
    method: "POST",
    path: `${ofOne}/test`,
    summary: "Try a destination step by step; 200 also when a step fails",
    body: TestWarehouseExport,
    reply: WarehouseTestResult,
    locate,
    ...plan,
    handle: async ({ use, body, resource }) => ({ body: await use.test(resource, body) }),
  }),

  route({
    id: "pauseWarehouseExport",
    method: "POST",
    path: `${ofOne}/pause`,
    summary: "Begin no further runs; one that is under way ends",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: PauseWarehouseExport,
    reply: WarehouseExport,
    locate,
    repeatable: {},
    handle: async ({ use, caller, ip, requestId, body, resource }) => ({
      body: use.view(await use.pause({ caller, ip, requestId }, resource, body.reason)),
    }),
  }),

  route({
    id: "resumeWarehouseExport",
    method: "POST",
    path: `${ofOne}/resume`,
    summary: "Begin runs again, from where the last one ended or from now",
    errors: ["HS_MANAGED", "HS_CONFLICT", "HS_JOB_IN_PROGRESS"],
    body: ResumeWarehouseExport,
    reply: WarehouseExport,
    locate,
    ...plan,
    repeatable: {},
    handle: async ({ use, caller, ip, requestId, body, resource }) => ({
      body: use.view(await use.resume({ caller, ip, requestId }, resource, body.catch_up ?? true)),
    }),
  }),

  route({
    id: "backfillWarehouseExport",
    method: "POST",
    path: `${ofOne}/backfill`,
    summary: "Begin a run now: of what changed since the last one, or of a range",
    status: [202],
    errors: ["HS_JOB_IN_PROGRESS", "HS_CONFLICT"],
    body: BackfillWarehouseExport,
    reply: WarehouseRun,
    locate,
    ...plan,
    repeatable: {
      check: ({ body }) => checkBackfill(body),
      made: async ({ use, resource, newId }) => {
        const made = await use.findRun(ofRow(resource), newId("warehouseRun"));
        return made === null ? null : { body: use.viewRun(made) };
      },
    },
    handle: async ({ use, caller, body, resource, newId }) => ({
      body: use.viewRun(await use.backfill(caller, resource, newId("warehouseRun"), body)),
    }),
  }),

  route({
    id: "listWarehouseRuns",
    method: "GET",
    path: `${ofOne}/runs`,
    summary: "List the runs of a warehouse export, the newest first",
    query: WarehouseRunListQuery,
    reply: WarehouseRunPage,
    locate,
    handle: async ({ use, query, resource }) => ({ body: await use.listRuns(resource, query) }),
  }),
];

/** Continuous copies of what an app has, in a bucket of its owner. */
export const warehouse = feature({
  make: warehouseUseCases,
  routes: [usual.list, usual.create, usual.get, usual.update, usual.remove, ...others],
  ...docs,
});
