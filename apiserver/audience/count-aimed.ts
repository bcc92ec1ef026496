import { type Chosen, isOfIdsAlone, type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import type { Probed } from "#core/storage/messages/targets.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import type { AimedSubscriptions } from "#core/storage/segments/aimed.ts";

/** What a message says by segments and a filter, and the instant that it is judged at. */
export type Aimed = { aim: MessageAim; at: Date };

export type CountAimedDeps = {
  aimed: Pick<AimedSubscriptions, "page" | "among">;
  /** How many of these are reached, by channel. */
  countReached: (rows: readonly Probed[], audience: Audience) => Promise<[channel: string, count: number][]>;
  /** How long people are looked at for one answer, ms. */
  mostMs?: number;
};

const standardMostMs = 700; // so that an answer takes a second
const pageRows = 5_000; // in memory at once

/**
 * Counts whom a target with segments or a filter reaches, by channel; null when not all could be looked at in time.
 * `named` are the subscriptions that its ids mean, `chosen` those ids.
 */
export const countAimed = async (
  { aimed, countReached, mostMs = standardMostMs }: CountAimedDeps,
  audience: Audience,
  { aim, at }: Aimed,
  { named, chosen }: { named: readonly Probed[]; chosen: Chosen },
): Promise<[channel: string, count: number][] | null> => {
  if (isOfIdsAlone(aim)) {
    const selection = openAim({ ...aim, isEveryone: true }, at, nobodyChosen);
    const ids = named.map(({ _id }) => _id);
    const meant = await aimed.among(audience, ids, selection);
    return countReached(
      named.filter(({ _id }) => meant.has(_id)),
      audience,
    );
  }
  const selection = openAim(aim, at, chosen);
  const endsMs = performance.now() + mostMs;
  const isOver = (): boolean => performance.now() >= endsMs;
  const counts = new Map<string, number>();
  for (const stretch of audience.reach) {
    let after = "";
    for (let isEnd = false; !isEnd; ) {
      const of = {
        ...stretch,
        appId: audience.appId,
        tenantId: audience.tenantId,
        testOnly: audience.testOnly,
        after,
        limit: pageRows,
      };
      const { rows, isWhole } = await aimed.page(of, selection, isOver);
      for (const [channel, count] of await countReached(rows, audience))
        counts.set(channel, (counts.get(channel) ?? 0) + count);
      if (!isWhole && isOver()) return null;
      isEnd = isWhole;
      after = rows.at(-1)?._id ?? after;
    }
  }
  return [...counts];
};
