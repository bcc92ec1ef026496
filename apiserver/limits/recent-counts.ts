import type { Clock } from "#core/domain/clock.ts";
import { cached } from "#core/storage/settings/cached.ts";

const ttlMs = 10_000; // counts over a whole app or tenant may be this old
const max = 10_000;

/** A count that is too much work for each request: of the same thing it is made once in 10 s. */
export const recentCounts = <Of, Count = number>(
  count: (of: Of) => Promise<Count>,
  clock: Clock,
): ((of: Of) => Promise<Count>) => {
  const load = (key: string): Promise<Count> => count(JSON.parse(key) as Of); // sound: our own text, just below
  const kept = cached({ load, ttlMs, max, clock });
  return (of) => kept.get(JSON.stringify(of));
};
