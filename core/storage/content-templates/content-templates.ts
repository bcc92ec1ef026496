import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** A template that was made at a provider for what messages say, under the hash of it. */
export type ContentTemplateRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** The provider's id. */
  provider_id: string;
  created_at: Date;
};

/** Then it is made again, should it be needed still. */
const keptDays = 90;

export const contentTemplateCollection: CollectionSpec = {
  name: "content_templates",
  indexes: [
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "a hash of what a message says to all of its recipients" },
  retention: { index: "retention" },
};

export type ContentTemplates = ReturnType<typeof contentTemplates>;

export const contentTemplates = (db: Db) => {
  const rows = collectionOf<ContentTemplateRow>(db, contentTemplateCollection);
  return {
    /** The provider's id of a template that was made before; null when there is none. */
    find: async (id: string): Promise<string | null> => (await rows.findOne({ _id: id }))?.provider_id ?? null,

    /** Remembers a template; the one that was remembered first stays. */
    keep: (row: ContentTemplateRow): Promise<boolean> => insertNew(rows, row),

    /** Forgets a template that the provider knows no longer. */
    forget: async (id: string): Promise<void> => void (await rows.deleteOne({ _id: id })),
  };
};

/** The id of a template: what it says, in one account of one app. */
export const contentTemplateId = (appId: string, account: string, says: string): string =>
  hash("sha256", `${appId} ${account} ${says}`, "base64url");
