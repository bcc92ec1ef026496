import { CreateImport, Import, ImportList, ImportQuery, importLimits } from "#core/schema/imports/import.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type ImportRow } from "#core/storage/imports/imports.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type ImportUse, importUseCases } from "./use-cases.ts";

type Found = { app: AppRow; row: ImportRow };

const ofApp = "/v1/apps/{appId}/imports";

const route = routeOf<ImportUse>({ tag: "Imports", scopes: ["admin"] });

/** The import that the path names. */
const importOfPath = async (located: Located<ImportUse>): Promise<Found> => {
  const app = await appOfPath(located);
  return { app, row: await located.use.find(app, located.params["importId"]) };
};

const routes = [
  route({
    id: "listImports",
    method: "GET",
    path: ofApp,
    summary: "List the imports of an app, the newest first",
    query: ImportQuery,
    reply: ImportList,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.list(resource, query) }),
  }),

  route({
    id: "createImport",
    method: "POST",
    path: ofApp,
    summary: "Import users and subscriptions from a CSV file",
    errors: ["HS_QUOTA_EXCEEDED"],
    form: {
      schema: CreateImport,
      file: "file",
      fields: ["type"],
      maxBytes: importLimits.fileBytes,
      timeoutMs: importLimits.uploadSeconds * 1_000,
    },
    reply: Import,
    locate: appOfPath,
    feature: "imports",
    repeatable: {
      made: async ({ use, resource: app, newId }) => {
        const made = await use.look(app, newId("import"));
        return made && { body: await use.view(made) };
      },
      show: async ({ use, resource: app }, id) => use.view(await use.find(app, id)),
    },
    handle: async ({ use, caller, resource: app, newId, form, signal }) => {
      const row = await use.create({ caller, app, id: newId("import"), form, signal });
      return { body: await use.view(row) };
    },
  }),

  route({
    id: "getImport",
    method: "GET",
    path: `${ofApp}/{importId}`,
    summary: "Show an import, and how far it has come",
    reply: Import,
    locate: importOfPath,
    handle: async ({ use, resource: { row } }) => ({ body: await use.view(row) }),
  }),

  route({
    id: "cancelImport",
    method: "POST",
    path: `${ofApp}/{importId}/cancel`,
    summary: "End an import; what was taken stays taken",
    errors: ["HS_CONFLICT"],
    reply: Import,
    locate: importOfPath,
    repeatable: { show: async ({ use, resource: { app } }, id) => use.view(await use.find(app, id)) },
    handle: async ({ use, resource: { app, row } }) => ({ body: await use.view(await use.cancel(app, row)) }),
  }),
];

/** Imports of users and subscriptions. */
export const imports = feature({ make: importUseCases, routes, ...docs });
