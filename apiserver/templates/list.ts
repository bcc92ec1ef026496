import {
  type TemplateListQuery,
  type TemplateSummary,
  type TemplateVersionListQuery,
  type TemplateVersionSummary,
  templatePaging,
  versionPaging,
} from "#core/schema/templates/template.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import type { ListedTemplate, TemplateRow, Templates } from "#core/storage/templates/templates.ts";
import type { TemplateVersionRow, TemplateVersions } from "#core/storage/templates/versions.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { listedVersionView, listedView } from "./views.ts";

/** One page of an app's templates. Source: docs/reference/templates.md#list. */
export const listTemplates =
  ({ templates, cursors }: { templates: Pick<Templates, "page">; cursors: Cursors }) =>
  (app: AppRow, query: TemplateListQuery): Promise<Page<TemplateSummary>> =>
    readPage<ListedTemplate, TemplateSummary, SortPosition>({
      cursors,
      paging: templatePaging,
      list: `templates/${app._id}`,
      query,
      read: (place) => templates.page(ofApp(app), { ...place, kind: query.kind }),
      positionOf: (row, sort) => ({ value: sort === "name" ? row.name : row.created_at, id: row._id }),
      view: listedView,
    });

/** One page of a template's versions, the newest first. An attempt to publish that was cut short left none. */
export const listVersions =
  ({ versions, cursors }: { versions: Pick<TemplateVersions, "page">; cursors: Cursors }) =>
  (row: TemplateRow, query: TemplateVersionListQuery): Promise<Page<TemplateVersionSummary>> =>
    readPage<TemplateVersionRow, TemplateVersionSummary, SortPosition>({
      cursors,
      paging: versionPaging,
      list: `templates/${row._id}/versions`,
      query,
      read: (place) =>
        versions.page(ofRow(row), row._id, {
          ...place,
          upTo: row.published_version ?? 0,
        }),
      positionOf: ({ _id: id, version: value }) => ({ value, id }),
      view: listedVersionView,
    });
