import { dayMs, hourMs } from "../durations.ts";

/** Something that somebody did, and how much it says about when they read. */
export type Signal = { at: Date; weight: number };

/** Source: docs/reference/timing.md#optimised. */
export const signalWeights = { opened: 3, clicked: 3 } as const;
/** Older signals say nothing; one of half that age says half as much as a new one. */
export const signalsForMs = 90 * dayMs;
const fewest = 5;

/** By hour of the day, as clocks that are `offsetMs` ahead of UTC show it, how much somebody did. */
export const hourWeights = (
  signals: readonly Signal[],
  { now, offsetMs }: { now: Date; offsetMs: number },
): number[] => {
  const weights = Array.from({ length: 24 }, () => 0);
  for (const { at, weight } of signals) {
    const ageMs = now.getTime() - at.getTime();
    if (ageMs < 0 || ageMs > signalsForMs) continue;
    const hour = hourOf(at, offsetMs);
    weights[hour] = (weights[hour] ?? 0) + weight * 2 ** (-ageMs / (signalsForMs / 2));
  }
  return weights;
};

/** The hour in which most was done, the first of several; null where nothing was. */
export const heaviest = (weights: readonly number[]): number | null => {
  const most = Math.max(...weights);
  return most > 0 ? weights.indexOf(most) : null;
};

/** The hour of the day in which somebody does most; null where too little is known to tell. */
export const bestHour = (signals: readonly Signal[], clock: { now: Date; offsetMs: number }): number | null => {
  const known = signals.filter(({ at }) => clock.now.getTime() - at.getTime() <= signalsForMs);
  return known.length < fewest ? null : heaviest(hourWeights(known, clock));
};

/** What hour clocks show. */
export const hourOf = (at: Date, offsetMs: number): number => {
  const ofDayMs = (at.getTime() + offsetMs) % dayMs;
  return Math.floor(((ofDayMs + dayMs) % dayMs) / hourMs);
};
