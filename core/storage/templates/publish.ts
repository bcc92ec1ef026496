import { isDeepStrictEqual } from "node:util";
import { dayMs } from "../../domain/durations.ts";
import { refuse } from "../../errors.ts";
import type { MjmlCompiler } from "../../runtime/mjml/compiler.ts";
import { checkDraft, fieldErrorOf } from "../../runtime/templates/content/draft.ts";
import { type Fault, judgeLiquid } from "../../runtime/templates/content/faults.ts";
import { templateBounds } from "../../schema/templates/template.ts";
import { ofRow } from "../mongo/collection.ts";
import type { TemplateRow, Templates } from "./templates.ts";
import { type PinnedPartial, type TemplateVersionRow, type TemplateVersions, versionId } from "./versions.ts";

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
  const { faults, ...resolved } = await resolvedDraft(deps, row);
  refuse(faults.map(fieldErrorOf));
  return {
    _id: versionId(_id, version),
    tenant_id,
    app_id,
    template_id: _id,
    version,
    channels,
    content,
    ...resolved,
    draft_at: row.updated_at,
    published_at: now,
    expires_at: null,
  };
};

/** What a draft renders beside its own texts, and what keeps it from being published. */
export type Resolved = Pick<TemplateVersionRow, "partials" | "email_html"> & { faults: Fault[] };

/** Finds the published partials that a draft renders, and compiles its MJML. */
export const resolvedDraft = async (deps: PublishDeps, row: TemplateRow): Promise<Resolved> => {
  const [{ partials, faults }, mail] = await Promise.all([partialsOf(deps, row), mailOf(deps, row)]);
  return { partials, ...("html" in mail && { email_html: mail.html }), faults: [...faults, ...mail.faults] };
};

type Partials = { partials: PinnedPartial[]; faults: Fault[] };

const partialsOf = async ({ templates, versions }: PublishDeps, row: TemplateRow): Promise<Partials> => {
  const of = ofRow(row);
  const named = judgeLiquid(row.content, row.kind === "partial" ? "none" : "any").partials;
  if (named.length === 0) return { partials: [], faults: [] };
  const most = templateBounds.partials;
  if (named.length > most) return { partials: [], faults: [ofAll(`renders more than ${most} partials`)] };
  const published = (await templates.partials(of, named)).flatMap(({ _id: id, name, published_version: version }) =>
    version === null ? [] : [{ id, name, version }],
  );
  const { faults } = judgeLiquid(row.content, new Set(published.map(({ name }) => name)));
  const ids = published.map(({ id, version }) => versionId(id, version));
  const contentsOf = new Map((await versions.several(of, ids)).map((one) => [one.template_id, one.content.contents]));
  const partials = published.map((one) => ({ ...one, contents: contentsOf.get(one.id) ?? {} }));
  const isTooMuch = Buffer.byteLength(JSON.stringify(partials)) > templateBounds.partialBytes;
  const tooMuch = ofAll(`renders partials of more than ${templateBounds.partialBytes} bytes`);
  return { partials, faults: isTooMuch ? [...faults, tooMuch] : faults };
};

const ofAll = (message: string): Fault => ({ member: "", line: 1, column: 1, message });

type Mail = { faults: Fault[] } | { faults: Fault[]; html: string };

const mailOf = async ({ mjml }: PublishDeps, { app_id, content }: TemplateRow): Promise<Mail> => {
  if (!content.email_mjml) return { faults: [] };
  const compiled = await mjml.compileTemplate(app_id, content.email_mjml);
  if ("html" in compiled) return { faults: [], html: compiled.html };
  return {
    faults: compiled.faults.map(({ line, column, message }) => ({
      member: "email_mjml",
      line: line ?? 1,
      column: column ?? 1,
      message,
    })),
  };
};

/** How long versions outlive their template, or the hundredth after them: messages are made 365 days ahead, and last 28. */
/** How long a version is kept once there are {@link templateBounds.versions} newer ones. */
export const versionKeptDays = 400;

/** When versions end that nothing newer keeps. */
export const versionsEnd = (now: Date): Date => new Date(now.getTime() + versionKeptDays * dayMs);

/** The version that a change makes: the draft's, or a new draft's when what is published says something else now. */
export const draftVersion = (
  row: Pick<TemplateRow, "version" | "published_version" | "content" | "channels">,
  { content = row.content, channels = row.channels }: Partial<Pick<TemplateRow, "content" | "channels">>,
): number => {
  const isSame = isDeepStrictEqual(content, row.content) && isDeepStrictEqual(channels, row.channels);
  return !isSame && row.published_version === row.version ? row.version + 1 : row.version;
};
