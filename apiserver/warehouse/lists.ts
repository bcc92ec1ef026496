import { dateOf } from "#core/domain/clock.ts";
import {
  type WarehouseExport,
  type WarehouseExportListQuery,
  type WarehouseRun,
  type WarehouseRunListQuery,
  warehouseExportPaging,
  warehouseRunPaging,
} from "#core/schema/warehouse/export.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { WarehouseExportRow, WarehouseExports } from "#core/storage/warehouse/exports.ts";
import type { WarehouseRunRow, WarehouseRuns } from "#core/storage/warehouse/runs.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { warehouseRunView } from "./views.ts";

type Shown = { cursors: Cursors; view: (row: WarehouseExportRow) => WarehouseExport };

/** The warehouse exports of an app, in pages. */
export const listExports =
  (store: Pick<WarehouseExports, "page">, { cursors, view }: Shown) =>
  (app: AppRow, query: WarehouseExportListQuery): Promise<Page<WarehouseExport>> =>
    readPage<WarehouseExportRow, WarehouseExport>({
      cursors,
      paging: warehouseExportPaging,
      list: `warehouse-exports/${app._id}`,
      query,
      read: (page) => store.page(ofApp(app), { ...page, status: query.status }),
      positionOf: ({ _id }) => _id,
      view,
    });

/** The runs of one, in pages. */
export const listRuns =
  (runs: Pick<WarehouseRuns, "page">, cursors: Cursors) =>
  (found: WarehouseExportRow, query: WarehouseRunListQuery): Promise<Page<WarehouseRun>> =>
    readPage<WarehouseRunRow, WarehouseRun>({
      cursors,
      paging: warehouseRunPaging,
      list: `warehouse-runs/${found._id}`,
      query,
      read: (page) => runs.page(found._id, { ...page, ...narrowed(query) }),
      positionOf: ({ _id }) => _id,
      view: warehouseRunView,
    });

const narrowed = ({ status, trigger, from, to }: WarehouseRunListQuery) => ({
  status,
  trigger,
  from: dateOf(from),
  to: dateOf(to),
});
