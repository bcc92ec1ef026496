import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import {
  CreateImport,
  Import,
  ImportList,
  ImportQuery,
  importLimits,
  importPaging,
} from "#core/schema/imports/import.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { cancelled, type ImportRow, imports as importStore } from "#core/storage/imports/imports.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { createImport } from "./create.ts";
import { docs } from "./openapi.ts";
import { importView } from "./views.ts";

type ImportPlatform = {
  db: Db;
  files: FileStore;
  limit: NarrowLimit;
  uncount: NarrowLimit;
  cursors: Cursors;
  clock: Clock;
};

const make = ({ db, files, limit, uncount, cursors, clock }: ImportPlatform) => {
  const imports = importStore(db);
  const view = importView({ files, clock });
  const look = ({ tenant_id: tenantId, _id: appId }: AppRow, id = "") => imports.find(tenantId, appId, id);
  const find = async (app: AppRow, id?: string): Promise<ImportRow> => existing(await look(app, id), "import");
  return {
    view,
    look,
    find,
    create: createImport({ imports, files, limit, uncount, clock }),

    list: async (app: AppRow, query: ImportQuery): Promise<Page<Import>> => {
      const of = { tenantId: app.tenant_id, appId: app._id };
      const list = { cursors, paging: importPaging, list: `imports/${app._id}`, query };
      const read = (page: { after: string | null; limit: number }) => imports.page(of, page);
      const page = await readPage({ ...list, read, positionOf: ({ _id }) => _id, view: (row: ImportRow) => row });
      return { ...page, data: await Promise.all(page.data.map(view)) };
    },

    /** Ends it; one that runs, after the rows that it is about to write. Source: docs/reference/imports.md#cancelling. */
    cancel: async (app: AppRow, { _id, status, error }: ImportRow): Promise<ImportRow> => {
      if (error === cancelled) return find(app, _id); // it stays so
      if (status !== "pending" && status !== "running")
        throw new AppError("HS_CONFLICT", `the import has ${status}`, { status });
      await imports.cancel(app.tenant_id, _id, clock.now());
      return find(app, _id);
    },
  };
};

type Use = ReturnType<typeof make>;
type Found = { app: AppRow; row: ImportRow };

const ofApp = "/v1/apps/{appId}/imports";

const route = routeOf<Use>({ tag: "Imports", scopes: ["admin"] });

/** The import that the path names. */
const importOfPath = async (located: Located<Use>): Promise<Found> => {
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
export const imports = feature({ make, routes, ...docs });
