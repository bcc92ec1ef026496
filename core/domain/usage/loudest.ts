import { type UsageCounts, usageFigures } from "./figures.ts";

/**
 * The tenants that have the largest part of the traffic, at most `most`, the loudest first. How loud one is says the
 * largest of its shares: whoever makes half of all deliveries is as loud as who makes half of all requests. Of equally
 * loud ones those with the lower ids are taken, so that the same ones are taken the next time.
 */
export const loudest = <T extends { tenantId: string; counts: UsageCounts }>(
  all: readonly T[],
  total: UsageCounts,
  most: number,
): T[] => {
  const loudness = new Map(all.map((one) => [one, largestShare(one.counts, total)]));
  const of = (one: T): number => loudness.get(one) ?? 0;
  return all
    .filter((one) => of(one) > 0)
    .sort((a, b) => of(b) - of(a) || (a.tenantId < b.tenantId ? -1 : 1))
    .slice(0, most);
};

const largestShare = (counts: UsageCounts, total: UsageCounts): number =>
  Math.max(...usageFigures.map((figure) => (total[figure] === 0 ? 0 : counts[figure] / total[figure])));
