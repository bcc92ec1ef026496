import { Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";
import { patterns } from "../json/patterns.ts";

const { Boolean: Flag, Enum, Object: Members, Optional, String: Text } = Type;

/** Bounds of what analytics is asked for. Source: docs/reference/analytics.md. */
export const analyticsLimits = {
  /** Of a range. */
  days: 400,
  /** Of a range that names no beginning. */
  usualDays: 30,
  /** Events in one answer. */
  names: 20,
  /** Series of one answer, but for groups. */
  metrics: 5,
  /** Of a timeseries by the hour. */
  hourlyDays: 31,
  /** Intervals of a timeseries. */
  points: 1_000,
  /** Groups with series of their own. */
  groups: 20,
  /** Values of one timeseries. */
  values: 20_000,
  /** Of a range that is counted again. */
  recountDays: 7,
  /** Messages that are sorted by a metric or rate. */
  sortedMessages: 1_000,
  /** Messages that an outcome names. */
  messagesOfOutcome: 50,
  /** Days for which counts by hour are kept. */
  keptDays: 800,
} as const;

/** What a range is compared with. */
export const comparisons = ["none", "previous_period", "previous_year"] as const;
export type Comparison = (typeof comparisons)[number];

/** Members that every query of analytics has. */
export const rangeQuery = {
  from: Optional(
    Text({
      format: "date-time",
      description: `first hour; left out: ${analyticsLimits.usualDays} days before \`to\``,
    }),
  ),
  to: Optional(
    Text({
      format: "date-time",
      description: `the hour behind the last; at most ${analyticsLimits.days} days after \`from\`; left out: the next full hour`,
    }),
  ),
  timezone: Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.timeZone,
      description: "IANA name, by whose clocks another range is found to compare with; left out: that of the app",
    }),
  ),
  compare: Optional(
    Enum([...comparisons], { default: "none", description: "whether another range is counted, too, and which" }),
  ),
};

/** The same where deliveries are counted, by the quarter of an hour. */
export const quarterRangeQuery = {
  ...rangeQuery,
  from: Optional(
    Text({
      format: "date-time",
      description: `first quarter of an hour; left out: ${analyticsLimits.usualDays} days before \`to\``,
    }),
  ),
  to: Optional(
    Text({
      format: "date-time",
      description: `the quarter of an hour behind the last; at most ${analyticsLimits.days} days after \`from\`; left out: the next one`,
    }),
  ),
};

/** Of what a job counts. */
export const countProgress = Nullable(
  Members(
    { people: Type.Integer({ description: "who were read so far" }) },
    { description: "of the count that is under way; null when none is" },
  ),
);

/** Members that every answer of analytics has. */
export const rangeReply = {
  from: DateTime,
  to: DateTime,
  timezone: Text(),
  previous: Nullable(
    Members(
      { from: DateTime, to: DateTime },
      {
        description: "the range that is compared with; null without one, or where it begins before what the plan keeps",
      },
    ),
  ),
  clamped: Flag({ description: "`from` was moved to where what the plan keeps begins" }),
  as_of: Type.String({ format: "date-time", description: "when the counts were read" }),
  complete_from: Type.String({ format: "date-time", description: "what happened before this is not counted any more" }),
};
