import type { Clock } from "#core/domain/clock.ts";
import { isMet } from "#core/domain/suppressions/effects.ts";
import type { Audience, Stretch } from "#core/storage/people/subscription-counts.ts";
import { cached } from "#core/storage/settings/cached.ts";
import type { Listed } from "#core/storage/suppressions/suppressions.ts";
import { traitsOn } from "./audience.ts";

export type SuppressedSizeDeps = {
  /** One page of an app's entries that a message on a channel may meet, behind an id. */
  entries: (of: Audience, channel: Stretch["channel"], after: string) => Promise<Listed[]>;
  /** Ids of the subscriptions of a stretch that have these addresses, or whose users these are. */
  subscriptions: (of: Audience, stretch: Stretch, by: { tokens: string[]; userIds: string[] }) => Promise<string[]>;
  clock: Clock;
  /** How long one answer looks at entries, ms. */
  mostMs?: number;
};

/** Entries that are looked at for one answer: of a longer list the oldest. Source: docs/reference/messages.md#estimate. */
const mostEntries = 100_000;
const standardMostMs = 2_000; // somebody waits for the answer
const kept = { ttlMs: 60_000, max: 1_000 }; // the list changes by few entries in a minute

/**
 * How many subscriptions of an audience the suppression list holds a message back from; up to a minute old. Of a list that
 * takes too long to go through, those that were found by then.
 */
export const suppressedSize = (deps: SuppressedSizeDeps): ((audience: Audience) => Promise<number>) => {
  const load = (key: string): Promise<number> => count(deps, JSON.parse(key) as Audience); // sound: our own text, below
  const sizes = cached({ load, ...kept, clock: deps.clock });
  return (audience) => sizes.get(JSON.stringify(audience));
};

const count = async (deps: SuppressedSizeDeps, audience: Audience): Promise<number> => {
  const suppressed = await Promise.all(
    [...Map.groupBy(audience.reach, ({ channel }) => channel)].map(([channel, stretches]) =>
      suppressedOn(deps, audience, { channel, stretches }),
    ),
  );
  return suppressed.reduce((sum, ids) => sum + ids.size, 0);
};

type OfChannel = { channel: Stretch["channel"]; stretches: readonly Stretch[] };

const suppressedOn = async (deps: SuppressedSizeDeps, audience: Audience, { channel, stretches }: OfChannel) => {
  const suppressed = new Set<string>();
  const said = traitsOn(audience, channel);
  const endsMs = performance.now() + (deps.mostMs ?? standardMostMs);
  let looked = 0;
  let page = await deps.entries(audience, channel, "");
  while (page.length > 0 && looked < mostEntries && performance.now() < endsMs) {
    const by = namedBy(page.filter((entry) => isMet(entry, said)));
    const found = await Promise.all(stretches.map((stretch) => deps.subscriptions(audience, stretch, by)));
    for (const id of found.flat()) suppressed.add(id);
    looked += page.length;
    page = await deps.entries(audience, channel, page.at(-1)?._id ?? "");
  }
  return suppressed;
};

/** Entries about erased people name nobody: whoever has their address by now is counted. */
const namedBy = (entries: readonly Listed[]): { tokens: string[]; userIds: string[] } => ({
  tokens: entries.flatMap(({ address }) => address ?? []),
  userIds: entries.flatMap(({ address, user_id: userId }) => (address === null ? (userId ?? []) : [])),
});
