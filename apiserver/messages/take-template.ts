import { mergedContent } from "#core/domain/content/merge.ts";
import { type FieldError, invalid } from "#core/errors.ts";
import { judgeLiquid } from "#core/runtime/templates/content/faults.ts";
import { parser } from "#core/schema/json/parser.ts";
import { type Content, MergedContent, mostDataBytes } from "#core/schema/messages/notification.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { Templates } from "#core/storage/templates/templates.ts";
import type { TemplateVersionRow, TemplateVersions } from "#core/storage/templates/versions.ts";

export type TakeTemplateDeps = { templates: Pick<Templates, "find">; versions: Pick<TemplateVersions, "find"> };

/** What a message takes of a template: what it said when it was published last. */
export type Taken = Pick<TemplateVersionRow, "template_id" | "version" | "channels" | "content" | "partials">;

export type TakeTemplate = (app: AppRow, id: string | undefined) => Promise<Taken | null>;

/** The version of a template that a message takes; null for one that names none. @throws ValidationError */
export const takeTemplate =
  ({ templates, versions }: TakeTemplateDeps): TakeTemplate =>
  async (app, id) => {
    if (id === undefined) return null;
    const of = ofApp(app);
    const found = await templates.find(of, id);
    if (found === null) throw invalid("template_id", "names no template of this app");
    if (found.kind === "partial") throw invalid("template_id", "names a partial, which other templates render");
    if (found.published_version === null) throw invalid("template_id", "names a template that is not published");
    const taken = await versions.find(of, id, found.published_version);
    if (taken === null) throw new Error(`version ${found.published_version} of ${id} is not there`);
    return taken;
  };

const parseMerged = parser(MergedContent);

/**
 * What a message says with its template, and what is wrong with what it adds.
 * @throws ValidationError for members that need another one
 */
export const mergedWith = (own: Content, taken: Taken): { content: Content; errors: FieldError[] } => {
  const content = parseMerged(mergedContent(own, taken.content));
  const { faults } = judgeLiquid(own, new Set(taken.partials.map(({ name }) => name)));
  const inWords = faults.map(({ member, line, column, message }) => ({
    field: member,
    message: `line ${line}, column ${column}: ${message}`,
  }));
  const bytes = Buffer.byteLength(JSON.stringify(content.custom_data ?? {}));
  const tooMuch = { field: "custom_data", message: `has ${bytes} bytes; at most ${mostDataBytes} can be sent` };
  return { content, errors: bytes > mostDataBytes ? [...inWords, tooMuch] : inWords };
};
