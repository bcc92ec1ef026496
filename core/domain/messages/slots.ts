/** A stretch of reserved time, in which sends are `everyMs` apart. Milliseconds since 1970. */
export type Reserved = { fromMs: number; count: number; everyMs: number };

/** How late a send may begin after its instant. A fiftieth of the 5 s over which a rate is even. */
const latestMs = 20;

/** The milliseconds between two sends of a rate. */
export const everyMsOf = (perMinute: number): number => 60_000 / perMinute;

/**
 * The next instant of a reserved stretch that is not over by more than a moment, and what is left behind it. Null when all
 * are over: they are lost, as sends that come late together would be a burst.
 */
export const nextSlot = (
  { fromMs, count, everyMs }: Reserved,
  nowMs: number,
): { atMs: number; rest: Reserved } | null => {
  const over = Math.max(0, Math.ceil((nowMs - latestMs - fromMs) / everyMs));
  if (over >= count) return null;
  const atMs = fromMs + over * everyMs;
  return { atMs, rest: { fromMs: atMs + everyMs, count: count - over - 1, everyMs } };
};

/** Whether a send may still begin at its instant. */
export const isLate = (atMs: number, nowMs: number): boolean => nowMs - atMs > latestMs;

/** Recipients of a chunk that takes half a minute, so that one that is given up leaves little; at most `most`. */
export const throttledSize = (perMinute: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(perMinute / 2)));

/** Sends that are reserved at once: half a second's, so that chunks of several dispatchers take turns. */
export const reservedAtOnce = (perMinute: number): number => Math.max(1, Math.ceil(perMinute / 120));

/** The instants of those who are sent to one after another from an instant on, until the next ones are. */
export const instantsBetween = (ids: readonly string[], from: Date, until: Date): ((id: string) => Date) => {
  const places = new Map(ids.map((id, place) => [id, place]));
  const eachMs = (until.getTime() - from.getTime()) / Math.max(1, ids.length);
  return (id) => new Date(from.getTime() + (places.get(id) ?? 0) * eachMs);
};
