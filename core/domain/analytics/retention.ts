import type { CohortUnit, PeriodMode } from "../../schema/analytics/retention.ts";
import { dayMs } from "../durations.ts";
import { boundsOf, intervalOf } from "./intervals.ts";

export type RetentionSpec = {
  range: { from: Date; to: Date };
  zone: string;
  unit: CohortUnit;
  /** Periods after the one of the cohort, which is period 0. */
  periods: number;
  mode: PeriodMode;
};

/** `retained`: people of the cohort who came back, in each period; null where it is not over for all of them. */
export type Cohort = { at: Date; size: number; retained: (number | null)[] };

export type Retention = {
  /** A person, by when they came first; null when that is not in the range. */
  person: (first: Date) => { see: (at: Date) => void; end: () => void } | null;
  cohorts: (asOf: Date) => Cohort[];
  /** When the last period of all is over: nobody who comes later counts. */
  end: Date;
};

const rollingMs: Readonly<Record<CohortUnit, number>> = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs };
const longestDays: Readonly<Record<CohortUnit, number>> = { day: 1, week: 7, month: 31 };

/** Counts who came back, one person after another. Source: docs/reference/analytics.md#retention. */
export const retentionOf = ({ range, zone, unit, periods, mode }: RetentionSpec): Retention => {
  const afterMs = (periods + 2) * (longestDays[unit] + 1) * dayMs;
  const longer = { from: range.from, to: new Date(range.to.getTime() + afterMs) };
  const bounds = boundsOf(longer, unit, { zone, most: mostIntervals }) ?? [];
  const begins = bounds.filter((at) => at < range.to);
  const sizes = begins.map(() => 0);
  const retained = begins.map(() => Array.from({ length: periods + 1 }, () => 0));
  const endOf = (cohort: number, period: number): number => {
    if (mode === "calendar") return bounds[cohort + period + 1]?.getTime() ?? longer.to.getTime();
    const last = Math.min(bounds[cohort + 1]?.getTime() ?? 0, range.to.getTime()); // who of the cohort may have come last
    return last + (period + 1) * rollingMs[unit];
  };
  const periodOf = (cohort: number, first: Date, at: Date): number =>
    mode === "calendar"
      ? intervalOf(bounds, at) - cohort
      : Math.floor((at.getTime() - first.getTime()) / rollingMs[unit]);
  return {
    person: (first) => {
      if (first < range.from || first >= range.to) return null;
      const cohort = intervalOf(bounds, first);
      const came = new Set<number>();
      return {
        see: (at) => {
          if (at >= first) came.add(periodOf(cohort, first, at));
        },
        end: () => {
          sizes[cohort] = (sizes[cohort] ?? 0) + 1;
          const counts = retained[cohort] ?? [];
          for (const period of came) if (period <= periods) counts[period] = (counts[period] ?? 0) + 1;
        },
      };
    },
    cohorts: (asOf) =>
      begins.map((at, n) => ({
        at,
        size: sizes[n] ?? 0,
        retained: (retained[n] ?? []).map((count, period) => (endOf(n, period) <= asOf.getTime() ? count : null)),
      })),
    end: new Date(begins.length === 0 ? range.to : endOf(begins.length - 1, periods)),
  };
};

const mostIntervals = 1_000; // 400 days, and 12 periods behind them
