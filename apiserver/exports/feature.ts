import { CreateExport, Export, ExportListQuery, ExportPage } from "#core/schema/exports/export.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { checkedFilters } from "./checks.ts";
import { messageExportRoutes } from "./message-routes.ts";
import { docs } from "./openapi.ts";
import { personExportRoutes } from "./person-routes.ts";
import { type ExportUse, exportUseCases } from "./use-cases.ts";

const route = routeOf<ExportUse>({ tag: "Exports", scopes: ["admin"] });

const ofApp = "/v1/apps/{appId}/exports";
const ofExport = `${ofApp}/{exportId}`;

/** The export that the path names. */
const exportOfPath = async (located: Located<ExportUse>): Promise<ExportRow> =>
  located.use.find(await appOfPath(located), located.params["exportId"]);

const routes = [
  ...messageExportRoutes,
  ...personExportRoutes,

  route({
    id: "listExports",
    method: "GET",
    path: ofApp,
    summary: "List the exports of an app, the newest first",
    query: ExportListQuery,
    reply: ExportPage,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.list(resource, query) }),
  }),

  route({
    id: "createExport",
    method: "POST",
    path: ofApp,
    summary: "Have a CSV file made of what an app has",
    errors: ["HS_QUOTA_EXCEEDED"],
    body: CreateExport,
    reply: Export,
    locate: appOfPath,
    feature: "exports",
    repeatable: {
      check: ({ body }) => void checkedFilters(body),
      show: async ({ use, resource: app }, id) => use.view(await use.find(app, id)),
    },
    handle: async ({ use, caller, body, resource, newId }) => ({
      body: await use.view(await use.create(caller, resource, body, newId("export"))),
    }),
  }),

  route({
    id: "getExport",
    method: "GET",
    path: ofExport,
    summary: "Show an export, with an address to download it once it is completed",
    reply: Export,
    locate: exportOfPath,
    handle: async ({ use, resource }) => ({ body: await use.view(resource) }),
  }),

  route({
    id: "cancelExport",
    method: "POST",
    path: `${ofExport}/cancel`,
    summary: "End an export that is not completed: it has failed, and has no file",
    errors: ["HS_CONFLICT"],
    reply: Export,
    locate: exportOfPath,
    repeatable: {},
    handle: async ({ use, resource }) => ({ body: await use.view(await use.cancel(resource)) }),
  }),
];

/** CSV files of what an app has. */
export const exports = feature({ make: exportUseCases, routes, ...docs });
