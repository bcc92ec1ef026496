import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type UserRow, userCollection } from "../people/users.ts";

const shown = {
  external_id: 1,
  aliases: 1,
  tags: 1,
  properties: 1,
  language: 1,
  country: 1,
  time_zone: 1,
} as const;

/** What templates may say of a person. */
export type TemplatePerson = Pick<UserRow, "_id" | keyof typeof shown>;

/** Reads what templates may say of at most 500 users (a chunk's), by their ids. */
export const templatePeople =
  (db: Db) =>
  async (userIds: readonly string[]): Promise<Map<string, TemplatePerson>> => {
    const users = collectionOf<UserRow>(db, userCollection);
    const options = { projection: shown, batchSize: userIds.length + 1 };
    const found = await users.find<TemplatePerson>({ _id: { $in: [...userIds] } }, options).toArray();
    return new Map(found.map((person) => [person._id, person]));
  };
