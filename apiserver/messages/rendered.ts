import { definitionOf } from "#core/channels/all.ts";
import { anId } from "#core/channels/kit/rendering.ts";
import { inLanguage } from "#core/domain/content/localise.ts";
import { isPersonal, saidWith, type TakenVersion, templateIn } from "#core/domain/content/taken.ts";
import { templateValues } from "#core/domain/content/values.ts";
import { languagesOf } from "#core/domain/messages/languages.ts";
import { saidIn } from "#core/domain/messages/neutral.ts";
import { standardTtlSeconds } from "#core/domain/messages/ttl.ts";
import type { Person } from "#core/domain/people/person.ts";
import type { ContentTemplates } from "#core/runtime/templates/content/content-templates.ts";
import { missingIn } from "#core/runtime/templates/content/missing.ts";
import type { Content, Options } from "#core/schema/messages/notification.ts";
import type { RenderedLanguage } from "#core/schema/messages/validate.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";

export type RenderedDeps = { templates: Pick<ContentTemplates, "open"> };

/** What is rendered. `person`: whose values a template reads; null: nobody's. */
export type Rendered = {
  app: AppRow;
  content: Content;
  options: Options;
  html: string | undefined;
  taken: TakenVersion | null;
  person: Person | null;
};

/** What a message says on a channel, in each language that makes a difference; for a person in theirs. */
export const renderedOn =
  (deps: RenderedDeps, rendered: Rendered) =>
  async (channel: Channel): Promise<{ channel: Channel; languages: RenderedLanguage[] }> => {
    const { person, content } = rendered;
    const languages = person === null ? languagesOf(content) : [person.language];
    return { channel, languages: await Promise.all(languages.map((one) => inOne(deps, rendered, channel, one))) };
  };

const inOne = async (
  deps: RenderedDeps,
  rendered: Rendered,
  channel: Channel,
  language: string | null,
): Promise<RenderedLanguage> => {
  const { content, missing } = await saidTo(deps, rendered, channel, language);
  const { limit } = definitionOf(channel);
  const limit_bytes = limit?.maxBytes ?? null;
  const none = { language, bytes: null, limit_bytes, payload: null, missing_variables: missing };
  if (content === null) return none;
  if (limit === null) return { ...none, payload: { ...inLanguage(content, language) } };
  const ttlSeconds = rendered.options.ttl ?? standardTtlSeconds;
  const body = limit.body({ messageId: anId, content, options: rendered.options, language, ttlSeconds });
  return { ...none, bytes: Buffer.byteLength(body), payload: JSON.parse(body) as Record<string, unknown> };
};

/** Null: its template says nothing to them, or cannot be rendered. */
const saidTo = async (
  { templates }: RenderedDeps,
  { app, content, html, taken, person }: Rendered,
  channel: Channel,
  language: string | null,
): Promise<{ content: Content | null; missing: string[] }> => {
  const own = html === undefined ? { content } : { content, email_html: html };
  if (taken === null)
    return { content: saidIn(html === undefined ? content : { ...content, email_body: html }), missing: [] };
  const said = saidWith(own, taken);
  if (!isPersonal(said)) return { content: saidIn(said), missing: [] };
  const template = templateIn(said, taken, language);
  const subscription = { _id: "", channel, language };
  const values = templateValues({ user: person, subscription, app, content: said });
  const result = await templates.open(template)(values);
  const isSaid = result !== "unavailable" && "content" in result;
  return { content: isSaid ? saidIn(result.content) : null, missing: missingIn(template, values) };
};
