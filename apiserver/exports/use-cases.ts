import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { CreateExport, Export, ExportListQuery } from "#core/schema/exports/export.ts";
import { exportPaging } from "#core/schema/exports/export.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exports as exportStore } from "#core/storage/exports/exports.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { messages } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { dataOfPerson } from "#core/storage/people/data.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { users } from "#core/storage/people/users.ts";
import { appSegments } from "#core/storage/segments/segments.ts";
import type { Caller } from "../access/caller.ts";
import { existing } from "../http/locate.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { addExport } from "./add.ts";
import { cancelExport } from "./cancel.ts";
import { checkedFilters } from "./checks.ts";
import { eventsOf, historyOf } from "./of-message.ts";
import { ofPerson } from "./person.ts";
import { segmentNamed } from "./segment-named.ts";
import { exportView } from "./views.ts";

export type ExportPlatform = {
  db: Db;
  files: FileStore;
  directory: Pick<Directory, "app">;
  limit: NarrowLimit;
  cursors: Cursors;
  clock: Clock;
};

export type ExportUse = ReturnType<typeof exportUseCases>;

/** What the operations on exports do. */
export const exportUseCases = ({ db, files, directory, limit, cursors, clock }: ExportPlatform) => {
  const exports = exportStore(db);
  const add = addExport({ exports, files, limit, clock });
  const ofMessage = { exports, add, appOf: directory.app, clock };
  const view = exportView({ files, clock });
  const inSegment = segmentNamed(appSegments(db));
  return {
    findMessage: messages(db).find,
    view,
    find: async (app: AppRow, id = ""): Promise<ExportRow> => existing(await exports.find(ofApp(app), id), "export"),
    create: async (caller: Caller, app: AppRow, body: CreateExport, id: string): Promise<ExportRow> => {
      const { type, compression = "none" } = body;
      const of = ofApp(app);
      const filters = await inSegment(app._id, checkedFilters(body));
      return add({ of, caller, id, operation: "exports.create", type, compression, filters });
    },
    list: async (app: AppRow, query: ExportListQuery): Promise<Page<Export>> => {
      const of = ofApp(app);
      const page = await readPage({
        cursors,
        paging: exportPaging,
        list: `exports/${app._id}`,
        query,
        read: (asked) => exports.page(of, asked),
        positionOf: (row) => row._id,
        view: (row) => row,
      });
      return { ...page, data: await Promise.all(page.data.map(view)) };
    },
    cancel: cancelExport({ exports, clock }),
    findUser: users(db).find,
    ofPerson: ofPerson({ ...ofMessage, subscriptions: subscriptions(db), read: dataOfPerson(db), limit }),
    history: historyOf(ofMessage),
    events: eventsOf(ofMessage),
  };
};
