import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Db } from "mongodb";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import { dayMs } from "../../domain/durations.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";

/** A person who caused an event of a name on a day; `_id` is a hash of all four. The batch that stored it counts them. */
export type DayUserRow = { _id: string; batch: string; expires_at: Date };

const keptMs = 33 * dayMs; // events are taken for 30 days after they happened

export const dayUserCollection: CollectionSpec = {
  name: "event_day_users",
  indexes: [{ key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "hashes that name no app, until their retention" },
  erasure: { kept: "hashes that name nobody, until their retention" },
  retention: { index: "retention" },
};

/** Somebody on a day. */
export type DayUser = { definitionId: string; day: Date; person: string };

export const dayUserId = ({ definitionId, day, person }: DayUser): string =>
  hash("sha256", `${definitionId}\n${day.getTime()}\n${person}`, "base64url").slice(0, 32);

/** An id is a part of a longer string, which V8 would keep for as long as the id is remembered. */
const copied = (id: string): string => Buffer.from(id, "latin1").toString("latin1");

export type DayUsers = ReturnType<typeof dayUsers>;

/** A batch that may be the first with somebody on a day. */
export type Claim = { id: string; batch: string; day: Date };

const page = 1_000;
const mostRemembered = 100_000; // some 14 MB: people of a day who are known need no read

/** The different people of a day, each stored once. */
export const dayUsers = (db: Db) => {
  const rows = collectionOf<DayUserRow>(db, dayUserCollection);
  const owners = new LRUCache<string, string>(atMostEntries(mostRemembered));

  const remember = (found: readonly Pick<DayUserRow, "_id" | "batch">[]): void => {
    for (const { _id, batch } of found) owners.set(_id, batch);
  };
  const read = async (ids: readonly string[]): Promise<void> => {
    const options = { projection: { batch: 1 }, batchSize: page + 1 };
    remember(await inPages(ids, page, (some) => rows.find({ _id: { $in: some } }, options).toArray()));
  };
  const unknown = (claims: readonly Claim[]): Claim[] => {
    const seen = new Set<string>();
    return claims.filter(({ id }) => !owners.has(id) && !seen.has(id) && seen.add(id).size > 0);
  };

  return {
    /** Stores who is new; gives, once for each, the claims whose batch is the one that stored them, also when it came before. */
    claim: async <C extends Claim>(claims: readonly C[]): Promise<C[]> => {
      const asked = unknown(claims);
      await read(asked.map(({ id }) => id));
      const made = unknown(asked).map(({ id: _id, batch, day }) => ({
        _id: copied(_id),
        batch,
        expires_at: new Date(day.getTime() + keptMs),
      }));
      made.sort((a, b) => (a._id < b._id ? -1 : 1)); // so that writers who meet wait for each other and not in a circle
      const lost = made.length === 0 ? new Set<string>() : await retryConflicts(() => insertMissing(rows, made));
      remember(made.filter(({ _id }) => !lost.has(_id)));
      if (lost.size > 0) await read([...lost]);
      const counted = new Set<string>();
      return claims.filter(({ id, batch }) => owners.get(id) === batch && !counted.has(id) && counted.add(id).size > 0);
    },
  };
};
