import { definitionOf } from "#core/channels/all.ts";
import type { BadgeChange } from "#core/channels/kit/channel.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { triesBefore } from "#core/storage/messages/chunks.ts";
import type { Work } from "./work.ts";

/** Those that were added to, by subscription. */
export type Badges = ReadonlyMap<string, number>;

export type BadgesOf = (messageId: string, ids: readonly string[], change: BadgeChange) => Promise<Badges>;

/** Adds to the badges of those who are going to be sent to, where the message asks for it. */
export const badgesOf = async (
  change: BadgesOf,
  { chunk, message }: Work,
  recipients: readonly Reached[],
): Promise<Badges> => {
  const wanted = definitionOf(chunk.channel).badge?.(message.content) ?? null;
  if (wanted === null || recipients.length === 0) return new Map();
  const ids = recipients.map(({ _id }) => _id);
  const isAdded = triesBefore(chunk) > 0 && "add" in wanted; // before the first try
  return change(message._id, ids, isAdded ? { add: 0 } : wanted);
};
