import { showAs } from "#core/schema/json/show.ts";
import { Template, TemplateSummary, TemplateVersion, TemplateVersionSummary } from "#core/schema/templates/template.ts";
import type { Managed } from "#core/storage/settings/managed.ts";
import type { ListedTemplate, TemplateRow, TemplateUser } from "#core/storage/templates/templates.ts";
import type { TemplateVersionRow } from "#core/storage/templates/versions.ts";

/** A template with what uses it, as the REST interface shows it. */
export const templateView = (row: TemplateRow & { usedBy?: readonly TemplateUser[] }): Template =>
  showAs(Template, { ...summaryOf(row), used_by: [...(row.usedBy ?? [])] });

/** As a list shows it. */
export const listedView = (row: ListedTemplate): TemplateSummary => showAs(TemplateSummary, summaryOf(row));

const summaryOf = <Row extends ListedTemplate>(row: Row) => ({
  ...row,
  id: row._id,
  status: row.published_version === row.version ? ("published" as const) : ("draft" as const),
  managed: managerOf(row.managed),
});

const managerOf = (managed: Managed | null) =>
  managed === null ? null : { kind: managed.kind, namespace: managed.namespace, name: managed.name };

/** A version. */
export const versionView = (row: TemplateVersionRow): TemplateVersion => showAs(TemplateVersion, versionOf(row));

/** As a list shows it. */
export const listedVersionView = (row: TemplateVersionRow): TemplateVersionSummary =>
  showAs(TemplateVersionSummary, versionOf(row));

const versionOf = (row: TemplateVersionRow) => ({
  ...row,
  partials: row.partials.map(({ name, id, version }) => ({ name, id, version })),
});
