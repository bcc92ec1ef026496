import { LRUCache } from "lru-cache";
import { isPersonal, saidWith, speaksLanguages, type TakenVersion, templateIn } from "#core/domain/content/taken.ts";
import { templateValues } from "#core/domain/content/values.ts";
import type { ContentTemplates, Render } from "#core/runtime/templates/content/content-templates.ts";
import { stepsIn } from "#core/runtime/templates/content/faults.ts";
import type { RenderedContent } from "#core/runtime/templates/content/renderer.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { TemplatePerson } from "#core/storage/templates/people.ts";
import { type TemplateVersions, versionId } from "#core/storage/templates/versions.ts";

export type TemplateDeps = {
  versions: Pick<TemplateVersions, "find">;
  templates: Pick<ContentTemplates, "open">;
};

/** What one recipient of a message is sent, or why they are sent nothing. */
export type OwnContent = RenderedContent | "unavailable";

/** Reads the users of the recipients, by their ids; once for all who ask. */
export type ReadPeople = () => Promise<ReadonlyMap<string, TemplatePerson>>;

export type OpenMessage = {
  /** With all that it says. */
  message: MessageRow;
  speaksLanguages: boolean;
  /** What each of these recipients is sent; null when that is the same for all of a language. */
  personal: ((people: ReadPeople) => Promise<(to: Reached) => Promise<OwnContent>>) | null;
};

export type MessageTemplates = {
  /** The message as it is sent; one that takes no template says what it says, and null is given for it. */
  open: (message: MessageRow & { variant_id?: string }, app: AppRow) => Promise<OpenMessage | null>;
};

/** Joins messages with the templates that they take. */
export const messageTemplates = (deps: TemplateDeps): MessageTemplates => {
  const versions = versionCache(deps.versions);
  const renders = new LRUCache<string, Render>({ max: 1_000, maxSize: mostSteps });
  /** A template is parsed once for all messages that add nothing but data to it. */
  const renderOf =
    (message: MessageRow & { variant_id?: string }, content: Content, version: TakenVersion) =>
    (language: string | null) => {
      const { custom_data: _, ...own } = message.content;
      const of =
        Object.keys(own).length === 0
          ? `${message.template_id}/${message.template_version}`
          : `${message._id}/${message.variant_id ?? ""}`;
      const key = `${of} ${language ?? ""}`;
      const known = renders.get(key);
      if (known !== undefined) return known;
      const { custom_data: _data, ...texts } = content;
      const template = templateIn(texts, version, language);
      const render = deps.templates.open(template);
      renders.set(key, render, { size: 1 + stepsIn(template) });
      return render;
    };
  return {
    open: async (message, app) => {
      const version = await versions(message);
      if (version === null) return null;
      const content = saidWith(message, version);
      const { email_html: _, ...row } = message;
      return {
        message: { ...row, content },
        speaksLanguages: speaksLanguages(content, version),
        personal: isPersonal(content)
          ? personalOf({ app, content, render: renderOf(message, content, version) })
          : null,
      };
    },
  };
};

const mostSteps = 40_000; // some 60 MB

type Personal = { app: AppRow; content: Content; render: (language: string | null) => Render };

const personalOf =
  ({ app, content, render }: Personal) =>
  async (people: ReadPeople) => {
    const users = await people();
    return async (to: Reached): Promise<OwnContent> => {
      const user = users.get(to.user_id) ?? null;
      return render(to.language)(templateValues({ user, subscription: to, app, content }));
    };
  };

const mostBytes = 64_000_000;

/** Versions never change. @throws Error when one is not there: they outlive every message that takes them */
const versionCache = (versions: TemplateDeps["versions"]) => {
  const known = new LRUCache<string, TakenVersion>({ max: 1_000, maxSize: mostBytes });
  return async (message: MessageRow): Promise<TakenVersion | null> => {
    const { template_id: id, template_version: version, tenant_id: tenantId, app_id: appId } = message;
    if (id === undefined || version === undefined) return null;
    const key = versionId(id, version);
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const found = await versions.find({ tenantId, appId }, id, version);
    if (found === null) throw new Error(`${key} is not there`);
    known.set(key, found, { size: Buffer.byteLength(JSON.stringify(found)) });
    return found;
  };
};
