import type { Db } from "mongodb";
import type { Scope } from "../../schema/vocabulary/scopes.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import type { Managed } from "../settings/managed.ts";

/** A key. Only the SHA-256 of its token is kept; an expired or revoked one is answered 401. */
export type ApiKeyRow = {
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

    /** A page of keys at most; those that are gone are left out. */
    findAll: (ids: readonly string[]): Promise<ApiKeyRow[]> => rows.find({ _id: { $in: [...ids] } }).toArray(),
  };
};
