import type { CollectionSpec } from "./collection.ts";

/** A person of an app. `alias_keys` holds `label:id` of every alias, `external_id` included: unique within the app. */
export type UserRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  external_id: string | null;
  aliases: Record<string, string>;
  alias_keys: string[];
  tags: Record<string, string>;
  properties: Record<string, unknown>;
  language: string | null;
  time_zone: string | null;
  country: string | null;
  first_seen_at: Date;
  last_active_at: Date;
  created_at: Date;
  updated_at: Date;
};

export const aliasKey = (label: string, id: string): string => `${label}:${id}`;

export const userCollection: CollectionSpec = {
  name: "users",
  indexes: [
    { key: { app_id: 1, alias_keys: 1 }, name: "alias", unique: true },
    { key: { app_id: 1, _id: 1 }, name: "app" },
  ],
};
