import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

/** A STOP or START that was followed, by what its provider calls the message. */
export type FollowedWordRow = { _id: string; tenant_id: string; app_id: string; created_at: Date };

/** Signatures without an instant stay good for as long as the account's secret: nobody gets to play an old one again. */
const keptDays = 400;

export const followedWordCollection: CollectionSpec = {
  name: "followed_words",
  indexes: [
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "a provider's id of a message, hashed: nothing of who wrote it" },
  retention: { index: "retention" },
};

/** Messages of people, by the provider's ids of them. */
export type Words = { of: OfApp; provider: string; ids: readonly string[] };

/** Which words of people were followed already. */
export const followedWords = (db: Db) => {
  const rows = collectionOf<FollowedWordRow>(db, followedWordCollection);
  return {
    /** Those that were followed. */
    known: async (words: Words): Promise<ReadonlySet<string>> => {
      const byKey = new Map(words.ids.map((id) => [keyOf(words, id), id]));
      const found = await rows.find({ _id: { $in: [...byKey.keys()] } }, { projection: { _id: 1 } }).toArray();
      return new Set(found.flatMap(({ _id }) => byKey.get(_id) ?? []));
    },
    /** Remembers that they were followed; called after it was done, so that a kill has them followed again. */
    remember: async (words: Words, now: Date): Promise<void> => {
      const { tenantId: tenant_id, appId: app_id } = words.of;
      const made = [...new Set(words.ids)].map((id) => ({ _id: keyOf(words, id), tenant_id, app_id, created_at: now }));
      if (made.length > 0) await insertMissing(rows, made);
    },
  };
};

const keyOf = ({ of, provider }: Words, id: string): string =>
  hash("sha256", `${of.appId} ${provider} ${id}`, "base64url");
