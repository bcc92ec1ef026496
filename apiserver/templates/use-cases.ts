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
import { type TemplateRow, type Templates, templates as templateStore } from "#core/storage/templates/templates.ts";
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

    /** With what uses it. */
    shown: async (row: TemplateRow) =>
      templateView({ ...row, usedBy: await store.usersOf(row, templateBounds.usedBy) }),

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
      announceUsed(kept, published, [...found.uses, ...published.uses]);
      await expireUpTo(published, published.version - templateBounds.versions);
      return published;
    },

    removeTemplate: async (by: By, found: TemplateRow, isForced: boolean): Promise<void> => {
      if (!isForced) await requireUnused(store, found);
      await kept.remove(by, found);
      announceUsed(kept, found, found.uses);
      await expireUpTo(found, Number.MAX_SAFE_INTEGER);
    },
  };
};

/** What uses a template keeps what it said; that it goes is to be meant all the same. @throws AppError HS_CONFLICT */
const requireUnused = async ({ usersOf }: Pick<Templates, "usersOf">, found: TemplateRow): Promise<void> => {
  const used_by = await usersOf(found, templateBounds.usedBy);
  if (used_by.length === 0) return;
  const message = found.kind === "partial" ? "templates render this partial" : "messages of this template are queued";
  throw new AppError("HS_CONFLICT", message, { status: "in_use", used_by });
};

/** What uses these partials is another now: whoever shows that hears of it. */
const announceUsed = (
  { announce }: { announce: (row: TemplateRow) => void },
  row: TemplateRow,
  partials: readonly string[],
): void => {
  for (const _id of new Set(partials)) announce({ ...row, _id });
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
