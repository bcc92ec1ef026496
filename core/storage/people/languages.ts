import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type UserRow, userCollection } from "./users.ts";

/** Reads the languages of those of at most 500 users (a chunk's) who have one, by their ids. */
export const languages =
  (db: Db) =>
  async (userIds: readonly string[]): Promise<Map<string, string>> => {
    const users = collectionOf<UserRow>(db, userCollection);
    const options = { projection: { language: 1 }, batchSize: userIds.length + 1 };
    const found = await users.find({ _id: { $in: [...userIds] } }, options).toArray();
    return new Map(found.flatMap(({ _id, language }) => (language === null ? [] : [[_id, language]])));
  };
