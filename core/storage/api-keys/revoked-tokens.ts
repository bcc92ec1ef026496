import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import type { ManagedRows } from "../settings/managed.ts";
import type { ApiKeyRow } from "./api-keys.ts";

/** A token that worked once. Requests with it are answered that it was revoked, also when its key is gone. */
export type RevokedTokenRow = {
  /** SHA-256 of the token, hex. */
  _id: string;
  revoked_at: Date;
};

export const rememberedDays = 400;

export const revokedTokenCollection: CollectionSpec = {
  name: "revoked_tokens",
  indexes: [{ key: { revoked_at: 1 }, name: "retention", expireAfterSeconds: rememberedDays * 86_400 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type RevokedTokens = ReturnType<typeof revokedTokens>;

export const revokedTokens = (db: Db) => {
  const rows = collectionOf<RevokedTokenRow>(db, revokedTokenCollection);
  return {
    /** Whether a token with this SHA-256 worked once. Ask for its key first: one that works may be here too. */
    has: async (hash: string): Promise<boolean> => (await rows.findOne({ _id: hash })) !== null,

    /** Remembers the tokens of keys. Before they end, so that a crash forgets none; may be repeated. */
    add: async (keys: readonly Pick<ApiKeyRow, "hashes">[], at: Date): Promise<void> => {
      const hashes = keys.flatMap((key) => key.hashes.map(({ hash }) => hash));
      if (hashes.length === 0) return;
      const remember = { $setOnInsert: { revoked_at: at } };
      await rows.bulkWrite(
        hashes.map((hash) => ({ updateOne: { filter: { _id: hash }, update: remember, upsert: true } })),
        { ordered: false },
      );
    },
  };
};

/** The documents of API keys, whose tokens are remembered when a write ends them. */
export const rememberingRows = (
  rows: ManagedRows<ApiKeyRow>,
  { add }: Pick<RevokedTokens, "add">,
  now: () => Date,
): ManagedRows<ApiKeyRow> => ({
  ...rows,
  keep: async (wanted, at) => {
    const { found, set } = wanted;
    const lasting = new Set((set.hashes ?? found?.hashes)?.map(({ hash }) => hash));
    await add([{ hashes: (found?.hashes ?? []).filter(({ hash }) => !lasting.has(hash)) }], at);
    return rows.keep(wanted, at);
  },
  remove: async (id, uid) => {
    const row = await rows.find(id);
    if (row?.managed?.uid === uid) await add([row], now());
    return rows.remove(id, uid);
  },
});
