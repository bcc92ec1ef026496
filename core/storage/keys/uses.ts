import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import type { SealedCount } from "./reseal.ts";

/** How much of a collection a key seals. */
export type Sealing = Pick<SealedCount, "secrets" | "documents">;

/** What a key of the key ring is needed for, as far as it is known. `_id` is its kid. */
export type KeyUseRow = {
  _id: string;
  /** What it sealed when that was last counted, by collection. */
  sealed: Record<string, Sealing>;
  /** Null before the first count. */
  counted_at: Date | null;
  /** Whether programs seal with it, or did when it was last counted: it may seal more than was counted. */
  is_first: boolean;
};

export const keyUseCollection: CollectionSpec = {
  name: "key_uses",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "one for each key of the key ring, or that something is sealed with" },
};

/** The names of a process's keys, the one that seals first, and of those that are said to be lost. */
export type Kids = { ring: readonly string[]; lost: readonly string[] };

const mostKeys = 2_000; // twice what a key ring may hold

/** What each key is needed for: written by the operator that counts, and by each program before it seals. */
export const keyUses = (db: Db) => {
  const rows = collectionOf<KeyUseRow>(db, keyUseCollection);
  const all = (): Promise<KeyUseRow[]> =>
    rows
      .find({ _id: { $gt: "" } })
      .sort({ _id: 1 })
      .limit(mostKeys)
      .toArray();
  return {
    all,

    /** Notes that a program is about to seal with this key. */
    begin: async (kid: string): Promise<void> => {
      const $setOnInsert = { sealed: {}, counted_at: null };
      await rows.updateOne({ _id: kid }, { $set: { is_first: true }, $setOnInsert }, { upsert: true });
    },

    /** Keeps what was counted. Of a key that is not in the ring it is known only what it sealed then. */
    keep: async (counts: readonly SealedCount[], { ring, lost }: Kids, now: Date): Promise<void> => {
      const known = (await all()).map(({ _id }) => _id);
      const kids = [...new Set([...ring, ...known, ...counts.map(({ kid }) => kid)])].filter((kid) => kid !== "");
      const writes = kids.map((kid) => {
        const own = counts.filter((one) => one.kid === kid);
        const sealed = Object.fromEntries(
          own.map(({ collection, secrets, documents }) => [collection, { secrets, documents }]),
        );
        const isKnown = ring.includes(kid) || lost.includes(kid);
        const $set = { sealed, counted_at: now, ...(isKnown && { is_first: kid === ring[0] }) };
        const $setOnInsert = isKnown ? {} : { is_first: false };
        return { updateOne: { filter: { _id: kid }, update: { $set, $setOnInsert }, upsert: true } };
      });
      await rows.bulkWrite(writes, { ordered: false });
      await rows.deleteMany({ _id: { $gt: "", $nin: [...ring] }, sealed: {}, is_first: false });
    },
  };
};
