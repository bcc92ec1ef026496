import type { Db } from "mongodb";
import { mostKeys } from "../../schema/api-keys/api-key.ts";
import type { Scope } from "../../schema/vocabulary/scopes.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { ownedRows } from "../settings/app-settings.ts";
import type { Managed } from "../settings/managed.ts";
import type { Changeable } from "../work/intended-changes.ts";

/** A key. Only the SHA-256 of its token is kept; an expired or revoked one is answered 401. */
export type ApiKeyRow = Changeable & {
  _id: string;
  tenant_id: string;
  /** Apps it may use; null = all apps of the tenant. */
  app_ids: string[] | null;
  name: string;
  scopes: Scope[];
  /** SHA-256 of the token, hex; several while a rotation overlaps. */
  hashes: { hash: string; expires_at: Date | null }[];
  /** When the newest token was made; absent until the operator has seen to it. */
  rotated_at?: Date;
  /** Networks that requests with it may come from; any, when absent or null. */
  allowed_addresses?: string[] | null;
  /** The hour in which it was last used; absent until it is. */
  last_used_at?: Date;
  revoked_at: Date | null;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const apiKeyCollection: CollectionSpec = {
  name: "api_keys",
  indexes: [
    { key: { "hashes.hash": 1 }, name: "hash", unique: true },
    { key: { tenant_id: 1 }, name: "tenant" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "tenant", member: "tenant_id" },
  appRemoval: { kept: "a key is its tenant's, and may be for other apps too" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its resource goes" },
};

export type ApiKeys = ReturnType<typeof apiKeys>;

export const apiKeys = (db: Db) => {
  const rows = collectionOf<ApiKeyRow>(db, apiKeyCollection);
  return {
    /** The key that has a token with this SHA-256, whatever its state. */
    findByHash: (hash: string): Promise<ApiKeyRow | null> => rows.findOne({ "hashes.hash": hash }, { hint: "hash" }),

    find: (tenantId: string, id: string): Promise<ApiKeyRow | null> => rows.findOne({ _id: id, tenant_id: tenantId }),

    /** A tenant's, in the order of creation; at most `limit`. */
    ofTenant: async (tenantId: string, limit: number): Promise<ApiKeyRow[]> => {
      const found = await rows.find({ tenant_id: tenantId }, { hint: "tenant" }).limit(limit).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    /** What the REST interface does to keys. */
    owned: {
      ...ownedRows(rows),
      count: (tenantId: string): Promise<number> =>
        rows.countDocuments({ tenant_id: tenantId }, { hint: "tenant", limit: mostKeys + 1 }),
    },

    /** Writes down that a key is used in an hour. */
    markUsed: async (id: string, hour: Date): Promise<void> => {
      await rows.updateOne({ _id: id }, { $max: { last_used_at: hour } });
    },

    /** A page of keys at most; those that are gone are left out. */
    findAll: (ids: readonly string[]): Promise<ApiKeyRow[]> => rows.find({ _id: { $in: [...ids] } }).toArray(),
  };
};
