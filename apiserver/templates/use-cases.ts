import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { AppError } from "#core/errors.ts";
import type { MjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import type { ContentTemplates } from "#core/runtime/templates/content/content-templates.ts";
import { checkDraft } from "#core/runtime/templates/content/draft.ts";
import { type CreateTemplate, templateBounds, type UpdateTemplate } from "#core/schema/templates/template.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { users } from "#core/storage/people/users.ts";
import {
  draftVersion,
  type PublishDeps,
  resolvedDraft,
  versionOf,
  versionsEnd,
} from "#core/storage/templates/publish.ts";
import { type TemplateRow, templates as templateStore } from "#core/storage/templates/templates.ts";
import { templateVersions } from "#core/storage/templates/versions.ts";
import type { Cursors } from "../http/pages.ts";
import type { By } from "../settings/audit.ts";
import { newSetting, type SettingsPlatform, settings } from "../settings/settings.ts";
import { listTemplates, listVersions } from "./list.ts";
import { type RenderDeps, renderTemplate } from "./render.ts";
import { templateView } from "./views.ts";

export type TemplatePlatform = SettingsPlatform & {
  db: Db;
  cursors: Cursors;
  mjml: Pick<MjmlCompiler, "compileTemplate">;
  contentTemplates: Pick<ContentTemplates, "open">;
};

export type TemplateUse = ReturnType<typeof templateUse>;

/** What the REST interface does with templates. Source: docs/reference/templates.md. */
export const templateUse = (platform: TemplatePlatform) => {
  const { db, clock, cursors, mjml } = platform;
  const [store, versions] = [templateStore(db), templateVersions(db)];
  const deps = { templates: store, versions, mjml };
  const kept = templateSettings(platform, store);
  const expireUpTo = (row: TemplateRow, version: number): Promise<void> =>
    versions.expire(row, version, versionsEnd(clock.now()));
  return {
    ...kept,
    versions,
    render: renderTemplate(rendering(platform, deps)),
    list: listTemplates({ templates: store, cursors }),
    listVersions: listVersions({ versions, cursors }),

    /** With what renders it. */
    shown: async (row: TemplateRow) =>
      templateView({ ...row, usedBy: row.kind === "partial" ? await store.usersOf(row, templateBounds.usedBy) : [] }),

    check: ({ kind = "message", content }: CreateTemplate): void => checkDraft({ kind, content }),

    create: async (by: By, app: AppRow, id: string, body: CreateTemplate): Promise<TemplateRow> => {
      const { name, kind = "message", description = null, channels = null, content } = body;
      const row = newSetting(app, id, clock.now());
      const draft = { version: 1, published_version: null, uses: [] };
      return kept.create(by, { ...row, name, kind, description, channels, content, ...draft });
    },

    update: async (by: By, found: TemplateRow, body: UpdateTemplate): Promise<TemplateRow> => {
      if (body.content !== undefined) checkDraft({ kind: found.kind, content: body.content });
      return kept.change(by, "updated", found, (row) => ({ set: { ...body, version: draftVersion(row, body) } }));
    },

    /** What is published already stays as it is. @throws ValidationError */
    publish: async (by: By, found: TemplateRow): Promise<TemplateRow> => {
      const published = await kept.write(found, async (row) => {
        if (row.published_version === row.version) return row;
        const made = await versionOf(deps, row, clock.now());
        await versions.keep(made);
        const set = { published_version: row.version, uses: made.partials.map(({ id }) => id) };
        return kept.attempt(by, "published", row, { set });
      });
      await expireUpTo(published, published.version - templateBounds.versions);
      return published;
    },

    /** A partial that templates render only when it is forced: they keep what it said. @throws AppError HS_CONFLICT */
    removeTemplate: async (by: By, found: TemplateRow, isForced: boolean): Promise<void> => {
      const users = isForced ? [] : await store.usersOf(found, templateBounds.usedBy);
      if (users.length > 0) {
        const details = { status: "in_use", used_by: users.map((id) => ({ type: "template", id })) };
        throw new AppError("HS_CONFLICT", "templates render this partial", details);
      }
      await kept.remove(by, found);
      await expireUpTo(found, Number.MAX_SAFE_INTEGER);
    },
  };
};

const rendering = (
  { db, contentTemplates }: TemplatePlatform,
  deps: PublishDeps & Pick<RenderDeps, "versions">,
): RenderDeps => ({
  templates: contentTemplates,
  versions: deps.versions,
  users: users(db),
  draft: async (row) => ({ content: row.content, ...(await resolvedDraft(deps, row)) }),
});

const templateSettings = (platform: SettingsPlatform, store: ReturnType<typeof templateStore>) =>
  settings(platform, {
    what: "template",
    store,
    view: (row: TemplateRow) => templateView(row),
    report: reported,
    plan: { metric: "templates", most: templateBounds.templates },
    taken: async ({ tenant_id: tenantId, app_id: appId, name }: TemplateRow) => {
      const details = { field: "name", id: (await store.findByName({ tenantId, appId }, name))?._id ?? null };
      return new AppError("HS_ALREADY_EXISTS", "the app has a template of this name", details);
    },
  });

/** An event is no place for a mail: it shows a hash of what the template says. */
const reported = (row: TemplateRow): object => {
  const { content, used_by: _, ...shown } = templateView(row);
  return { ...shown, content_sha256: hash("sha256", JSON.stringify(content)) };
};
