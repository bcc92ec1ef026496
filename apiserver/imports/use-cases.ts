import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Import, ImportQuery } from "#core/schema/imports/import.ts";
import { importPaging } from "#core/schema/imports/import.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { cancelled, type ImportRow, imports as importStore } from "#core/storage/imports/imports.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { existing } from "../http/locate.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { cancelJob } from "../jobs/cancel.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { createImport } from "./create.ts";
import { importView } from "./views.ts";

export type ImportPlatform = {
  db: Db;
  files: FileStore;
  limit: NarrowLimit;
  uncount: NarrowLimit;
  cursors: Cursors;
  clock: Clock;
};

export type ImportUse = ReturnType<typeof importUseCases>;

/** What the operations on imports do. */
export const importUseCases = ({ db, files, limit, uncount, cursors, clock }: ImportPlatform) => {
  const imports = importStore(db);
  const view = importView({ files, clock });
  const look = (app: AppRow, id = "") => imports.find(ofApp(app), id);
  const find = async (app: AppRow, id?: string): Promise<ImportRow> => existing(await look(app, id), "import");
  return {
    view,
    look,
    find,
    create: createImport({ imports, files, limit, uncount, clock }),

    list: async (app: AppRow, query: ImportQuery): Promise<Page<Import>> => {
      const of = ofApp(app);
      const list = { cursors, paging: importPaging, list: `imports/${app._id}`, query };
      const read = (page: { after: string | null; limit: number }) => imports.page(of, page);
      const page = await readPage({ ...list, read, positionOf: ({ _id }) => _id, view: (row: ImportRow) => row });
      return { ...page, data: await Promise.all(page.data.map(view)) };
    },

    /** Ends it; one that runs, after the rows that it is about to write. Source: docs/reference/imports.md#cancelling. */
    cancel: (app: AppRow, row: ImportRow): Promise<ImportRow> =>
      cancelJob({
        what: "import",
        row,
        error: cancelled,
        end: () => imports.cancel(app.tenant_id, row._id, clock.now()),
      }),
  };
};
