import type { Collection } from "mongodb";
import { erasedBody } from "../../domain/people/erased.ts";
import { peopleOf } from "../../domain/people/keys.ts";
import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { farAhead, longAgo, type Person } from "../mongo/collection.ts";
import { findIds } from "../mongo/pages.ts";
import type { EventBatchRow } from "./batch-row.ts";

const mostBatches = 10_000;

/** Erases a person from events that came in before and still wait to be published; as a rule there are none. */
export const eraseBatches = async (rows: Collection<EventBatchRow>, { appId, ...who }: Person): Promise<number> => {
  const waiting = { due_at: { $gt: longAgo, $lt: farAhead }, app_id: appId, created_at: { $lte: who.at } };
  for (const _id of await findIds(rows, waiting, { limit: mostBatches })) {
    const batch = await rows.findOne({ _id });
    const texts = batch?.events.flatMap(({ text }, i) => erasingText(text, i, who)) ?? [];
    if (texts.length > 0) await rows.updateOne({ _id }, { $set: Object.fromEntries(texts) });
  }
  return 0;
};

const erasingText = (text: string, index: number, who: Pick<Person, "keys" | "at">): [string, string][] => {
  const people = peopleOf(JSON.parse(text) as EventEnvelope); // sound: we wrote it
  const body = erasedBody({ text, people }, who);
  return body === null ? [] : [[`events.${index}.text`, body.text]];
};
