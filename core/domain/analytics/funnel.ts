import { classOf, percentileOf } from "./latency.ts";

/** The steps of a funnel are events that come one after another, all within a time from the first one on. */
export type FunnelSpec = { steps: readonly string[]; windowMs: number; range: { from: Date; to: Date } };

/** Events of one person at one instant. */
export type Moment = { atMs: number; names: ReadonlySet<string> };

/** How many people reached a step; of those who reached only the one before: whose time is over, and who still have some. */
export type FunnelStep = {
  reached: number;
  lost: number;
  pending: number;
  median_ms: number | null;
  p90_ms: number | null;
};

/** Counts people in a funnel, one after another. */
export type Funnel = {
  /** A person who has begun in the range; their moments are in the order of time. */
  person: () => { see: (moment: Moment) => void; end: () => void };
  steps: () => FunnelStep[];
};

/**
 * Each person counts once, with the beginning that led furthest: of several the one that got there first, and of these the
 * latest. A step comes after the one before, not at the same instant. Somebody waits for their next step as long as the time from
 * any of their beginnings on is not over at `asOf`. Source: docs/reference/analytics.md#funnel.
 */
export const funnelOf = (spec: FunnelSpec, asOf: Date): Funnel => {
  const counts = spec.steps.map(() => ({ reached: 0, lost: 0, pending: 0, classes: new Map<number, number>() }));
  const add = (best: readonly number[], lastBegunMs: number): void => {
    for (const [n, atMs] of best.entries()) {
      const count = counts[n];
      if (count === undefined) continue;
      count.reached += 1;
      const tookClass = classOf(atMs - (best[0] ?? atMs));
      count.classes.set(tookClass, (count.classes.get(tookClass) ?? 0) + 1);
    }
    const next = counts[best.length];
    if (next === undefined || best.length === 0) return;
    if (lastBegunMs + spec.windowMs > asOf.getTime()) next.pending += 1;
    else next.lost += 1;
  };
  return {
    person: () => {
      const way = wayOf(spec);
      return { see: way.see, end: () => add(way.best(), way.lastBegunMs()) };
    },
    steps: () =>
      counts.map(({ reached, lost, pending, classes }, n) => {
        const took = [...classes].map(([of, count]) => ({ class: of, count }));
        const isTimed = n > 0 && reached > 0;
        return {
          reached,
          lost,
          pending,
          median_ms: isTimed ? percentileOf(took, 0.5) : null,
          p90_ms: isTimed ? percentileOf(took, 0.9) : null,
        };
      }),
  };
};

/**
 * The way of a person: of each step when its steps were reached, by the latest beginning that led there. An earlier one leads
 * nowhere that this one does not lead to, so that nothing else has to be known.
 */
const wayOf = ({ steps, windowMs, range }: FunnelSpec) => {
  const ways: (readonly number[] | undefined)[] = steps.map(() => undefined);
  let best: readonly number[] = [];
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  const reach = (step: number, way: readonly number[]): void => {
    ways[step] = way;
    if (way.length > best.length) best = way;
  };
  return {
    see: ({ atMs, names }: Moment): void => {
      for (let n = steps.length - 1; n > 0; n--) {
        const before = ways[n - 1];
        if (before === undefined || !names.has(steps[n] ?? "")) continue;
        const [begunMs = 0] = before;
        const isNewer = begunMs > (ways[n]?.[0] ?? Number.NEGATIVE_INFINITY);
        if (isNewer && atMs - begunMs <= windowMs) reach(n, [...before, atMs]);
      }
      if (!names.has(steps[0] ?? "") || atMs < range.from.getTime() || atMs >= range.to.getTime()) return;
      reach(0, [atMs]);
      lastBegunMs = atMs;
    },
    best: (): readonly number[] => best,
    lastBegunMs: (): number => lastBegunMs,
  };
};
