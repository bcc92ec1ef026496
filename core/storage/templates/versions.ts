import type { Db } from "mongodb";
import type { LanguageMap } from "../../schema/json/common.ts";
import type { Content } from "../../schema/messages/notification.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { unlessTaken } from "../mongo/duplicate.ts";
import { type SortPosition, sortedPage } from "../mongo/page-range.ts";

/** A partial as a version renders it, whatever becomes of the partial. */
export type PinnedPartial = { id: string; name: string; version: number; contents: LanguageMap };

/** What a template said when it was published: messages that took it are rendered of this, also once it is gone. */
export type TemplateVersionRow = {
  /** `versionId`. */
  _id: string;
  tenant_id: string;
  app_id: string;
  template_id: string;
  version: number;
  channels: Channel[] | null;
  content: Content;
  /** What `email_mjml` became, Liquid kept in place. */
  email_html?: string;
  partials: PinnedPartial[];
  /** The `updated_at` of the draft that it was made of: of two attempts the one of the later draft stands. */
  draft_at: Date;
  published_at: Date;
  /** Null: as long as it is among the newest of its template. */
  expires_at: Date | null;
};

export const templateVersionCollection: CollectionSpec = {
  name: "template_versions",
  indexes: [
    { key: { app_id: 1, template_id: 1, version: 1, _id: 1 }, name: "template" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "template" },
  erasure: { kept: "what an app says to everybody" },
  retention: { index: "retention" },
};

export const versionId = (templateId: string, version: number): string => `${templateId}/${version}`;

export type TemplateVersions = ReturnType<typeof templateVersions>;

export const templateVersions = (db: Db) => {
  const rows = collectionOf<TemplateVersionRow>(db, templateVersionCollection);
  return {
    find: ({ tenantId, appId }: OfApp, templateId: string, version: number): Promise<TemplateVersionRow | null> =>
      rows.findOne({ _id: versionId(templateId, version), app_id: appId, tenant_id: tenantId }),

    /** Those of partials, by template and version. */
    several: ({ tenantId, appId }: OfApp, ids: readonly string[]): Promise<TemplateVersionRow[]> =>
      rows.find({ _id: { $in: [...ids] }, app_id: appId, tenant_id: tenantId }, { hint: "_id_" }).toArray(),

    /** One page of a template's, up to a version; without what they say. */
    page: (
      { tenantId, appId }: OfApp,
      templateId: string,
      { upTo, limit, ...place }: { upTo: number; limit: number; after: SortPosition | null; isDescending: boolean },
    ): Promise<TemplateVersionRow[]> => {
      const { filter, sort } = sortedPage("version", place);
      const until = filter["version"] === undefined ? { version: { $lte: upTo } } : {}; // a page behind another is below it
      return rows
        .find(
          { app_id: appId, template_id: templateId, tenant_id: tenantId, ...filter, ...until },
          { hint: "template" },
        )
        .project<TemplateVersionRow>({ content: 0, email_html: 0, "partials.contents": 0 })
        .sort(sort)
        .limit(limit)
        .toArray();
    },

    /**
     * Stores what a draft says under its version. One that was left by an attempt with an earlier draft is replaced; that
     * of a later draft stays, as the change of the template by this attempt fails then.
     */
    keep: async ({ _id, ...row }: TemplateVersionRow): Promise<void> => {
      const older = { _id, draft_at: { $lt: row.draft_at } };
      await unlessTaken(() => rows.updateOne(older, { $set: row }, { upsert: true }), null);
    },

    /** Has a template's versions up to one end at an instant. */
    expire: async ({ app_id, _id }: { app_id: string; _id: string }, upTo: number, at: Date): Promise<void> => {
      const former = { app_id, template_id: _id, version: { $gte: 1, $lte: upTo }, expires_at: null };
      await rows.updateMany(former, { $set: { expires_at: at } }, { hint: "template" });
    },
  };
};
