import type { Collection, Db, Document } from "mongodb";
import type { Content } from "../../schema/messages/notification.ts";
import { type TemplateKind, type TemplateUse, templateBounds } from "../../schema/templates/template.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { MessageRow } from "../messages/message-row.ts";
import { messageCollection } from "../messages/messages.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { namedPage, type SortPosition, sortedPage } from "../mongo/page-range.ts";
import { appSettings, type SettingRow } from "../settings/app-settings.ts";

/** A template with its draft, or with what it says when there is none. */
export type TemplateRow = SettingRow & {
  name: string;
  kind: TemplateKind;
  description: string | null;
  channels: Channel[] | null;
  content: Content;
  /** Of what `content` says: one more than `published_version` in a draft. */
  version: number;
  published_version: number | null;
  /** Ids of the partials that the published version renders. */
  uses: string[];
};

export const templateCollection: CollectionSpec = {
  name: "templates",
  indexes: [
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { app_id: 1, created_at: 1, _id: 1 }, name: "created" },
    { key: { app_id: 1, uses: 1 }, name: "uses" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "name" },
  erasure: { kept: "what an app says to everybody" },
  retention: { kept: "until it is deleted" },
};

/** As a list has it: without what it says. */
export type ListedTemplate = Omit<TemplateRow, "content">;

export type Templates = ReturnType<typeof templates>;

const hint = "name"; // its prefix finds an app's templates

export const templates = (db: Db) => {
  const rows = collectionOf<TemplateRow>(db, templateCollection);
  return {
    ...appSettings<TemplateRow>(db, templateCollection, hint),

    /** Counted by the store: each may say a lot. */
    count: (appId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId }, { hint, limit: templateBounds.templates + 1 }),

    findByName: ({ tenantId, appId }: OfApp, name: string): Promise<TemplateRow | null> =>
      rows.findOne({ app_id: appId, name, tenant_id: tenantId }, { hint }),

    /** The template of an app that has a name. */
    named: (appId: string, name: string): Promise<TemplateRow | null> =>
      rows.findOne({ app_id: appId, name }, { hint }),

    countOthers: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint }),

    /** The partials that have these names. */
    partials: ({ tenantId, appId }: OfApp, names: readonly string[]): Promise<ListedTemplate[]> =>
      rows
        .find({ app_id: appId, name: { $in: [...names] }, kind: "partial", tenant_id: tenantId }, { hint })
        .project<ListedTemplate>({ content: 0 })
        .toArray(),

    usersOf: usersIn(rows, collectionOf<MessageRow>(db, messageCollection)),

    /** One page of an app's, by name or by when they were made. */
    page: (
      { tenantId, appId }: OfApp,
      { kind, limit, ...place }: ListPlace & { kind: TemplateKind | undefined; limit: number },
    ): Promise<ListedTemplate[]> => {
      const { filter, sort, hint } = place.sort === "name" ? byName(place) : byCreation(place);
      const narrow = kind === undefined ? {} : { kind };
      return rows
        .find({ app_id: appId, ...filter, tenant_id: tenantId, ...narrow }, { hint })
        .project<ListedTemplate>({ content: 0 })
        .sort(sort)
        .limit(limit)
        .toArray();
    },
  };
};

export type TemplateUser = { type: TemplateUse; id: string };

/** What uses a template: of a partial, what renders it in its published version; else the messages of it that are queued. */
const usersIn =
  (rows: Collection<TemplateRow>, messages: Collection<MessageRow>) =>
  async ({ app_id, tenant_id, _id, kind }: Used, limit: number): Promise<TemplateUser[]> => {
    const options = { limit, projection: { _id: 1 } };
    const found: { _id: string }[] =
      kind === "partial"
        ? await rows.find({ app_id, uses: _id, tenant_id }, { ...options, hint: "uses" }).toArray()
        : await messages
            .find({ app_id, template_id: _id, status: "queued", tenant_id }, { ...options, hint: "template_uses" })
            .toArray();
    const type = kind === "partial" ? "template" : "message";
    return found.map((row) => ({ type, id: row._id }));
  };

type Used = Pick<TemplateRow, "app_id" | "tenant_id" | "_id" | "kind">;

type ListPlace = { sort: string; after: SortPosition | null; isDescending: boolean };
type Listing = { filter: Document; sort: Record<string, 1 | -1>; hint: string };

const byName = (place: ListPlace): Listing => ({ ...namedPage(place), hint });

const byCreation = (place: ListPlace): Listing => ({ ...sortedPage("created_at", place), hint: "created" });
