import { definitionOf } from "#core/channels/all.ts";
import { channelsWithContent } from "#core/channels/content.ts";
import { anId } from "#core/channels/kit/rendering.ts";
import { saidWith, type TakenVersion, templateIn } from "#core/domain/content/taken.ts";
import { templateValues } from "#core/domain/content/values.ts";
import { saidIn } from "#core/domain/messages/neutral.ts";
import { standardTtlSeconds } from "#core/domain/messages/ttl.ts";
import type { Person } from "#core/domain/people/person.ts";
import { invalid } from "#core/errors.ts";
import type { ContentTemplates } from "#core/runtime/templates/content/content-templates.ts";
import type { Fault } from "#core/runtime/templates/content/faults.ts";
import { missingIn } from "#core/runtime/templates/content/missing.ts";
import type { ContentTemplate, ContentValues, RenderedContent } from "#core/runtime/templates/content/renderer.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { RenderTemplate, RenderTemplateResult } from "#core/schema/templates/render.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { TemplateRow } from "#core/storage/templates/templates.ts";
import type { TemplateVersions } from "#core/storage/templates/versions.ts";

export type RenderDeps = {
  templates: Pick<ContentTemplates, "open">;
  versions: Pick<TemplateVersions, "find">;
  users: { find: (of: OfApp, label: string, id: string) => Promise<Person | null> };
  /** What a draft would become now, and what is wrong with it. */
  draft: (row: TemplateRow) => Promise<TakenVersion & { faults: Fault[] }>;
};

type Shown = RenderTemplateResult["channels"][number];

/** What a template says to a person, or with given data; nobody is sent anything. @throws ValidationError */
export const renderTemplate =
  (deps: RenderDeps) =>
  async (app: AppRow, row: TemplateRow, body: RenderTemplate): Promise<RenderTemplateResult> => {
    const [version, user] = await Promise.all([versionOf(deps, row, body), personOf(deps, app, body)]);
    const content = saidWith({ content: {} }, version);
    const language = body.language ?? user?.language ?? null;
    const channels =
      body.channel === undefined ? (row.channels ?? channelsWithContent(saidIn(version.content))) : [body.channel];
    const template = templateIn(content, version, language);
    const shown = channels.map(async (channel) => {
      const values = valuesOf({ app, user, content, language, channel }, body.data);
      return version.faults.length > 0
        ? { ...empty(channel), errors: version.faults }
        : shownOn(deps, { template, values, channel, language });
    });
    return { channels: await Promise.all(shown) };
  };

const versionOf = async ({ versions, draft }: RenderDeps, row: TemplateRow, { version }: RenderTemplate) => {
  if (version === undefined) return draft(row);
  const isPublished = version <= (row.published_version ?? 0);
  const found = isPublished ? await versions.find(ofRow(row), row._id, version) : null;
  if (found === null) throw invalid("version", "is no published version of this template");
  return { ...found, faults: [] };
};

const personOf = async ({ users }: RenderDeps, app: AppRow, { user }: RenderTemplate): Promise<Person | null> => {
  if (user === undefined) return null;
  const found = await users.find(ofApp(app), user.label, user.id);
  if (found === null) throw invalid("user", "is nobody of this app");
  return found;
};

type For = { app: AppRow; user: Person | null; content: Content; language: string | null; channel: Channel };

/** What is given counts, but for what is known of the person. */
const valuesOf = ({ channel, language, ...of }: For, data: RenderTemplate["data"] = {}): ContentValues => {
  const known = templateValues({ ...of, subscription: { _id: "", channel, language } });
  const { custom_data: given } = data;
  const custom = typeof given === "object" && given !== null ? { ...of.content.custom_data, ...given } : given;
  const own = of.user === null ? {} : { user: known["user"] };
  return { ...known, ...data, ...own, custom_data: custom ?? known["custom_data"] };
};

const empty = (channel: Channel): Shown => ({
  channel,
  content: null,
  bytes: null,
  limit_bytes: definitionOf(channel).limit?.maxBytes ?? null,
  missing_variables: [],
  aborted: null,
  errors: [],
});

type Showing = { template: ContentTemplate; values: ContentValues; channel: Channel; language: string | null };

const shownOn = async ({ templates }: RenderDeps, { template, values, channel, language }: Showing): Promise<Shown> => {
  const rendered = await templates.open(template)(values);
  const shown = { ...empty(channel), missing_variables: missingIn(template, values) };
  if (rendered === "unavailable") return { ...shown, errors: [notNow] };
  if ("fault" in rendered) return { ...shown, errors: [rendered.fault] };
  if ("aborted" in rendered) return { ...shown, aborted: rendered.aborted };
  return { ...shown, content: rendered.content, bytes: bytesOf(channel, rendered, language) };
};

const notNow: Fault = { member: "content", line: 1, column: 1, message: "cannot be rendered now" };

/** As it would be sent, before it is cut to what the provider takes. */
const bytesOf = (
  channel: Channel,
  { content }: Extract<RenderedContent, { content: Content }>,
  language: string | null,
): number | null => {
  const { limit } = definitionOf(channel);
  const rendering = {
    messageId: anId,
    content: saidIn(content),
    options: {},
    language,
    ttlSeconds: standardTtlSeconds,
  };
  return limit === null ? null : Buffer.byteLength(limit.body(rendering));
};
