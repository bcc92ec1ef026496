/** How often a value came. `error`: by how much that may be too high; 0 for each of at most `mostTracked` values. */
export type Tracked = { value: string; count: number; error: number };

/** Values that are counted at the same time. */
export const mostTracked = 100;

/**
 * Counts values in bounded memory, by space-saving (Metwally, Agrawal, El Abbadi 2005): what is new takes the place of the
 * value with the lowest count, and its count, too. Counts are exact up to 100 different values; beyond that none is too
 * low, and what came more often than one time in a hundred is there.
 */
export const counted = (sketch: readonly Tracked[], values: ReadonlyMap<string, number>): Tracked[] => {
  const tracked = new Map(sketch.map((one) => [one.value, { ...one }]));
  const frequentFirst = [...values].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  for (const [value, n] of frequentFirst) {
    const known = tracked.get(value);
    if (known !== undefined) known.count += n;
    else if (tracked.size < mostTracked) tracked.set(value, { value, count: n, error: 0 });
    else {
      const lowest = lowestOf(tracked.values());
      tracked.delete(lowest.value);
      tracked.set(value, { value, count: lowest.count + n, error: lowest.count });
    }
  }
  return [...tracked.values()];
};

/** The most frequent values of several sketches, by their counts in all of them. */
export const mostFrequent = (
  sketches: readonly (readonly Tracked[])[],
  most: number,
): { value: string; count: number }[] => {
  const counts = new Map<string, number>();
  for (const { value, count } of sketches.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  const all = [...counts].map(([value, count]) => ({ value, count }));
  return all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, most);
};

const lowestOf = (tracked: Iterable<Tracked>): Tracked => {
  let lowest: Tracked = { value: "", count: Number.POSITIVE_INFINITY, error: 0 };
  for (const one of tracked) if (one.count < lowest.count) lowest = one;
  return lowest;
};
