import { hash } from "node:crypto";
import type { Db } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

/**
 * In which order a message that reaches each person once tries the addresses of one of them, and who sends a fallback to them:
 * written once, by whoever looks at the person first.
 */
export type ChoiceRow = {
  _id: string;
  message_id: string;
  order: { subscription_id: string; channel: Channel }[];
  /** Of a fallback, whose `order` is empty: the piece of work that sends it. */
  by?: string;
  created_at: Date;
};

export const choiceCollection: CollectionSpec = {
  name: "choices",
  indexes: [
    { key: { message_id: 1 }, name: "message" },
    // As long as chunks: they matter while their message is processed.
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: 32 * 86_400 },
  ],
  owner: { kind: "message", member: "message_id" },
  appRemoval: { with: "messages" },
  erasure: { kept: "ids of subscriptions alone, for a month" },
  retention: { index: "retention" },
};

export type Choices = ReturnType<typeof choices>;

export const choices = (db: Db) => {
  const rows = collectionOf<ChoiceRow>(db, choiceCollection);

  const among = async (ids: readonly string[]): Promise<ChoiceRow[]> =>
    ids.length === 0 ? [] : rows.find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 }).toArray();

  return {
    /** Keeps the orders of those of these people for whom there is none yet; gives what counts now, by person. */
    keep: async (
      messageId: string,
      orders: ReadonlyMap<string, ChoiceRow["order"]>,
      now: Date,
    ): Promise<Map<string, ChoiceRow["order"]>> => {
      if (orders.size === 0) return new Map();
      const made = [...orders].map(([userId, order]) => ({
        userId,
        row: { _id: choiceId(messageId, userId), message_id: messageId, order, created_at: now },
      }));
      const known = await insertMissing(
        rows,
        made.map(({ row }) => row),
      );
      const before = new Map((await among([...known])).map((row) => [row._id, row]));
      return new Map(made.map(({ userId, row }) => [userId, (before.get(row._id) ?? row).order]));
    },

    /** Whose fallback this piece of work sends, of these people: the first that asks has them, also when it asks again. */
    claim: async (
      messageId: string,
      { step, by }: { step: number; by: string },
      userIds: readonly string[],
      now: Date,
    ): Promise<Set<string>> => {
      if (userIds.length === 0) return new Set();
      const made = new Map(
        userIds.map((userId): [string, ChoiceRow] => {
          const _id = choiceId(messageId, `${userId}\n${step}`);
          return [userId, { _id, message_id: messageId, order: [], by, created_at: now }];
        }),
      );
      const known = await insertMissing(rows, [...made.values()]);
      const others = new Set((await among([...known])).filter((row) => row.by !== by).map(({ _id }) => _id));
      return new Set(userIds.filter((userId) => !others.has(made.get(userId)?._id ?? "")));
    },

    /** The orders of these people, where there are some. */
    of: async (messageId: string, userIds: readonly string[]): Promise<Map<string, ChoiceRow["order"]>> => {
      const users = new Map(userIds.map((userId) => [choiceId(messageId, userId), userId]));
      return new Map((await among([...users.keys()])).map(({ _id, order }) => [users.get(_id) ?? "", order]));
    },
  };
};

/** 132 bits of SHA-256: of somebody who is erased it says nothing. */
const choiceId = (messageId: string, userId: string): string =>
  hash("sha256", `${messageId}\n${userId}`, "base64url").slice(0, 22);
