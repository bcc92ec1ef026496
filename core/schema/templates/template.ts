import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";
import { Content } from "../messages/notification.ts";
import { withLiquid } from "./liquid-members.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

/** Bounds of templates. Source: docs/reference/templates.md#bounds. */
export const templateBounds = {
  templates: 5_000,
  nameCharacters: 128,
  descriptionCharacters: 255,
  partials: 20,
  partialBytes: 1_000_000,
  versions: 100,
  usedBy: 20,
} as const;

export const templateKinds = ["message", "partial"] as const;
export type TemplateKind = (typeof templateKinds)[number];

const Name = Text({
  minLength: 1,
  maxLength: templateBounds.nameCharacters,
  pattern: patterns.noNull,
  description: "unique in the app; `render` names a partial by it",
});
const Description = Text({ maxLength: templateBounds.descriptionCharacters, description: "a note for people" });
const Channels = List(ChannelName, {
  minItems: 1,
  maxItems: 8,
  uniqueItems: true,
  description: "over which its messages go; null: over those that it has content for",
});

/** What a template says: content members of a notification, with Liquid in their texts. A partial has `contents` alone. */
export const TemplateContent = Closed(withLiquid(Content).properties); // Partial alone admits members that it does not name

/** Body of `POST /v1/apps/{appId}/templates`. */
export const CreateTemplate = Closed({
  name: Name,
  kind: Optional(
    Enum([...templateKinds], { description: "default message; a partial is a text that templates render" }),
  ),
  description: Optional(Nullable(Description)),
  channels: Optional(Nullable(Channels)),
  content: TemplateContent,
});
export type CreateTemplate = Static<typeof CreateTemplate>;

/** Body of `PATCH /v1/apps/{appId}/templates/{templateId}`: a new content or new channels are a draft until it is published. */
export const UpdateTemplate = Closed({
  name: Optional(Name),
  description: Optional(Nullable(Description)),
  channels: Optional(Nullable(Channels)),
  content: Optional(TemplateContent),
});
export type UpdateTemplate = Static<typeof UpdateTemplate>;

/** What may use a template: of a partial, templates whose published version renders it; else messages that are queued. */
export const templateUses = ["template", "message"] as const;
export type TemplateUse = (typeof templateUses)[number];

const Use = Type.Object({ type: Enum([...templateUses]), id: Text() });
const Manager = Type.Object({ kind: Text(), namespace: Nullable(Text()), name: Text() });

const summary = {
  id: Text(),
  app_id: Text(),
  name: Text(),
  kind: Enum([...templateKinds]),
  description: Nullable(Text()),
  channels: Nullable(List(ChannelName)),
  version: Integer({ minimum: 1, description: "of what is shown: the draft's when there is one" }),
  status: Enum(["draft", "published"], { description: "draft: it was changed, or never published" }),
  published_version: Nullable(Integer({ minimum: 1, description: "which messages take; null: none yet" })),
  managed: Nullable(Type.Object(Manager.properties, { description: "the resource that it is kept by" })),
  created_at: DateTime,
  updated_at: DateTime,
};

/** A template as a list shows it. */
export const TemplateSummary = Type.Object(summary);
export type TemplateSummary = Static<typeof TemplateSummary>;

/** A template. Source: docs/reference/templates.md. */
export const Template = Type.Object({
  ...summary,
  content: Type.Object({}, { additionalProperties: true }),
  used_by: List(Use, { description: `what uses it; ${templateBounds.usedBy} at most` }),
});
export type Template = Static<typeof Template>;

export const TemplatePage = PageOf(TemplateSummary);

export const templatePaging = pagingOf({ keys: ["name", "created_at"], sort: "name" });

/** Query of `GET /v1/apps/{appId}/templates`. */
export const TemplateListQuery = Type.Object({
  ...templatePaging.pageQuery,
  kind: Optional(Enum([...templateKinds])),
  ...templatePaging.sortQuery,
});
export type TemplateListQuery = Static<typeof TemplateListQuery>;

export const DeleteTemplateQuery = Type.Object({
  force: Optional(Flag({ description: "deletes it also while it is used" })),
});

/** A version as a list shows it. */
export const TemplateVersionSummary = Type.Object({
  template_id: Text(),
  version: Integer({ minimum: 1 }),
  channels: Nullable(List(ChannelName)),
  partials: List(Type.Object({ name: Text(), id: Text(), version: Integer({ minimum: 1 }) })),
  published_at: DateTime,
});
export type TemplateVersionSummary = Static<typeof TemplateVersionSummary>;

/** What a template said when it was published. It never changes. */
export const TemplateVersion = Type.Object({
  ...TemplateVersionSummary.properties,
  content: Type.Object({}, { additionalProperties: true }),
});
export type TemplateVersion = Static<typeof TemplateVersion>;

export const TemplateVersionPage = PageOf(TemplateVersionSummary);

export const versionPaging = pagingOf({ keys: ["version"], sort: "-version" });

/** Query of `GET /v1/apps/{appId}/templates/{templateId}/versions`. */
export const TemplateVersionListQuery = Type.Object({ ...versionPaging.pageQuery });
export type TemplateVersionListQuery = Static<typeof TemplateVersionListQuery>;

named({
  CreateTemplate,
  UpdateTemplate,
  Template,
  TemplateContent,
  TemplateSummary,
  TemplatePage,
  TemplateVersion,
  TemplateVersionSummary,
  TemplateVersionPage,
});
