import { refuse } from "#core/errors.ts";
import type { MjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import { judgeLiquid } from "#core/runtime/templates/content/faults.ts";
import { templateBounds } from "#core/schema/templates/template.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { TemplateRow, Templates } from "#core/storage/templates/templates.ts";
import {
  type PinnedPartial,
  type TemplateVersionRow,
  type TemplateVersions,
  versionId,
} from "#core/storage/templates/versions.ts";
import { checkDraft, fieldErrorOf } from "./checks.ts";

export type PublishDeps = {
  templates: Pick<Templates, "partials">;
  versions: Pick<TemplateVersions, "several">;
  mjml: Pick<MjmlCompiler, "compileTemplate">;
};

/** What a draft becomes when it is published: with the partials that it renders, as they are now. @throws ValidationError */
export const versionOf = async (deps: PublishDeps, row: TemplateRow, now: Date): Promise<TemplateVersionRow> => {
  const { _id, tenant_id, app_id, content, channels, version } = row;
  if (Object.keys(content).length === 0) refuse([{ field: "content", message: "says nothing" }]);
  checkDraft(row);
  const partials = row.kind === "partial" ? [] : await partialsOf(deps, row);
  const html = await htmlOf(deps, row);
  return {
    _id: versionId(_id, version),
    tenant_id,
    app_id,
    template_id: _id,
    version,
    channels,
    content,
    ...(html !== null && { email_html: html }),
    partials,
    draft_at: row.updated_at,
    published_at: now,
    expires_at: null,
  };
};

/** The published partials that a template renders. @throws ValidationError for one that there is not, or too many of them */
const partialsOf = async ({ templates, versions }: PublishDeps, row: TemplateRow): Promise<PinnedPartial[]> => {
  const of = ofRow(row);
  const named = judgeLiquid(row.content, "any").partials;
  const most = templateBounds.partials;
  if (named.length > most) refuse([{ field: "content", message: `renders more than ${most} partials` }]);
  const found = named.length === 0 ? [] : await templates.partials(of, named);
  const published = found.flatMap(({ _id, name, published_version: version }) =>
    version === null ? [] : [{ id: _id, name, version }],
  );
  refuse(judgeLiquid(row.content, new Set(published.map(({ name }) => name))).faults.map(fieldErrorOf));
  const rows = await versions.several(
    of,
    published.map(({ id, version }) => versionId(id, version)),
  );
  const contentsOf = new Map(rows.map(({ template_id: id, content }) => [id, content.contents ?? {}]));
  const pinned = published.map((one) => ({ ...one, contents: contentsOf.get(one.id) ?? {} }));
  if (Buffer.byteLength(JSON.stringify(pinned)) > templateBounds.partialBytes)
    refuse([{ field: "content", message: `renders partials of more than ${templateBounds.partialBytes} bytes` }]);
  return pinned;
};

const htmlOf = async ({ mjml }: PublishDeps, { app_id, content }: TemplateRow): Promise<string | null> => {
  if (!content.email_mjml) return null;
  const compiled = await mjml.compileTemplate(app_id, content.email_mjml);
  if ("html" in compiled) return compiled.html;
  refuse(
    compiled.faults.map(({ line, column, message }) => ({
      field: "content.email_mjml",
      message: line === null ? message : `line ${line}, column ${column}: ${message}`,
    })),
  );
  return null;
};
