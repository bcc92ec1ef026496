/** Source of randomness: a number in [0, 1). */
export type Random = () => number;

export type Backoff = { firstMs: number; capMs: number; factor: number };

/** Delay before attempt n + 1, ms (n counts from 0): grows by `factor`, capped, with full jitter above its half. */
export const backoffMs = ({ firstMs, capMs, factor }: Backoff, n: number, random: Random): number => {
  const most = Math.min(capMs, firstMs * factor ** n);
  return most / 2 + (most / 2) * random();
};
