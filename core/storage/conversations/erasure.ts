import type { Db } from "mongodb";
import type { Counted } from "../../domain/conversations/tally.ts";
import type { Person } from "../mongo/collection.ts";
import { conversationCounts } from "./counts.ts";
import { rowsOfPerson } from "./person.ts";

type Left = {
  _id: string;
  tenant_id: string;
  app_id: string;
  seq: number;
  counted?: Counted & { seq: number };
  gone: true;
  uncounted_at: Date;
};

/**
 * Removes the conversations of somebody who is deleted. That they are gone is counted first: until then nothing is left of each
 * but its id and what was counted of it. One that a message changes at this moment is left to the next pass.
 */
export const eraseConversations = async (db: Db, person: Person): Promise<number> => {
  let count = 0;
  for await (const row of rowsOfPerson<Left>(db, "conversations", person)) {
    await goneOf(db, row, person.at);
    count++;
  }
  const { tenantId, appId, at } = person;
  if (count > 0) await conversationCounts(db).touch({ tenantId, appId }, at);
  return 0;
};

type Countable = Pick<Left, "_id" | "tenant_id" | "app_id" | "seq" | "counted">;

/** Leaves of a conversation, unless it was changed meanwhile, what counting needs to know that it is gone. */
export const goneOf = async (db: Db, { _id, tenant_id, app_id, seq, counted }: Countable, now: Date): Promise<void> => {
  const left = { tenant_id, app_id, seq: seq + 1, ...(counted !== undefined && { counted }), gone: true as const };
  await db.collection<Left>("conversations").replaceOne({ _id, seq }, { ...left, uncounted_at: now });
};
