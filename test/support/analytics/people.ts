import type { FunnelSpec } from "#core/domain/analytics/funnel.ts";
import type { RetentionSpec } from "#core/domain/analytics/retention.ts";
import { dayMs, quarterMs } from "#core/domain/durations.ts";

/** What somebody did, and when. */
export type Did = { name: string; atMs: number };

/** Zones with every kind of clocks; those that change do so in the north or the south, by an hour or by half of one. */
export const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
] as const;

/** How many people reached each step, and of those who reached only the one before, who lost and who waits: a plain program. */
export const plainFunnel = (
  histories: readonly (readonly Did[])[],
  { steps, windowMs, range }: FunnelSpec,
  asOf: Date,
): { reached: number; lost: number; pending: number }[] => {
  const counts = steps.map(() => ({ reached: 0, lost: 0, pending: 0 }));
  for (const history of histories) {
    const begun = history.filter(
      ({ name, atMs }) => name === steps[0] && atMs >= range.from.getTime() && atMs < range.to.getTime(),
    );
    if (begun.length === 0) continue;
    const furthest = Math.max(...begun.map(({ atMs }) => stepsFrom(history, steps, { atMs, endMs: atMs + windowMs })));
    for (const count of counts.slice(0, furthest)) count.reached += 1;
    const next = counts[furthest];
    if (next === undefined) continue;
    const isOpen = begun.some(({ atMs }) => atMs + windowMs > asOf.getTime());
    next[isOpen ? "pending" : "lost"] += 1;
  }
  return counts;
};

const stepsFrom = (
  history: readonly Did[],
  [, ...rest]: readonly string[],
  { atMs, endMs }: { atMs: number; endMs: number },
): number => {
  let [reached, lastMs] = [1, atMs];
  for (const step of rest) {
    const after = history.filter((one) => one.name === step && one.atMs > lastMs && one.atMs <= endMs);
    if (after.length === 0) return reached;
    reached += 1;
    lastMs = Math.min(...after.map((one) => one.atMs));
  }
  return reached;
};

/** A person, by when they came first, and when they came back. */
export type Came = { firstMs: number; backMs: readonly number[] };

/** Cohorts as a plain program counts them, by what clocks show alone. */
export const plainRetention = (people: readonly Came[], spec: RetentionSpec, asOf: Date) => {
  const { range, zone, unit, periods, mode } = spec;
  const numberOf = unitNumber(zone, unit);
  const [first, last] = [numberOf(range.from.getTime()), numberOf(range.to.getTime() - 1)];
  const lengthMs = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs }[unit];
  return Array.from({ length: last - first + 1 }, (_, n) => {
    const cohort = people.filter(
      ({ firstMs }) =>
        firstMs >= range.from.getTime() && firstMs < range.to.getTime() && numberOf(firstMs) === first + n,
    );
    const retained = Array.from({ length: periods + 1 }, (__, period) => {
      const cameBack = cohort.filter(({ firstMs, backMs }) =>
        backMs.some((ms) => {
          if (ms < firstMs) return false;
          const elapsed = mode === "calendar" ? numberOf(ms) - (first + n) : Math.floor((ms - firstMs) / lengthMs);
          return elapsed === period;
        }),
      );
      const isOver =
        mode === "calendar"
          ? numberOf(asOf.getTime()) > first + n + period
          : endOf(numberOf, first + n, range) + (period + 1) * lengthMs <= asOf.getTime();
      return isOver ? cameBack.length : null;
    });
    return { size: cohort.length, retained };
  });
};

/** When a unit ends, or the range: found by going through its quarters of an hour. */
const endOf = (numberOf: (ms: number) => number, unit: number, range: { from: Date; to: Date }): number => {
  let [low, high] = [range.from.getTime() / quarterMs, range.to.getTime() / quarterMs];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (numberOf(middle * quarterMs) > unit) high = middle;
    else low = middle + 1;
  }
  return low * quarterMs;
};

/** Which day, week or month clocks show, by Intl alone. */
const unitNumber = (zone: string, unit: RetentionSpec["unit"]): ((ms: number) => number) => {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  const known = new Map<number, number>();
  const read = (ms: number): number => {
    const [year = 0, month = 0, day = 0] = format.format(ms).split("-").map(Number);
    if (unit === "month") return year * 12 + month;
    const days = Date.UTC(year, month - 1, day) / dayMs;
    return unit === "day" ? days : Math.floor((days + 3) / 7); // 1970 began on a Thursday
  };
  return (ms) => {
    const quarter = Math.floor(ms / quarterMs);
    const number = known.get(quarter) ?? read(quarter * quarterMs);
    known.set(quarter, number);
    return number;
  };
};
