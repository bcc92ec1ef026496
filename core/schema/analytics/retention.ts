import { type Static, Type } from "typebox";
import { customEventLimits, eventNamePattern } from "../events/custom.ts";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { countProgress, quarterRangeQuery, rangeReply } from "./query.ts";

const { Array: List, Enum, Integer, Number: Num, Object: Members, Optional, String: Text } = Type;

/** What cohorts are made by. */
export const cohortUnits = ["day", "week", "month"] as const;
export type CohortUnit = (typeof cohortUnits)[number];

/** How the periods after somebody's first time are counted: by the clocks of the zone, or from that instant on. */
export const periodModes = ["calendar", "rolling"] as const;
export type PeriodMode = (typeof periodModes)[number];

/** Bounds of retention and funnels. */
export const retentionLimits = { periods: 12, leastSteps: 2, steps: 8, windowHours: 2_160 } as const;

/** Cohorts by when people were seen first, and what brings them back: sessions of their devices. */
export const firstSeen = "first_seen";
export const session = "session";

const EventName = (description: string, standard?: string) =>
  Text({
    minLength: 1,
    maxLength: customEventLimits.nameCharacters,
    pattern: eventNamePattern,
    description,
    ...(standard !== undefined && { default: standard }),
  });

const { compare: _compare, ...plainRange } = quarterRangeQuery;

/** Query of `GET /v1/apps/{appId}/analytics/retention`. */
export const RetentionQuery = Closed({
  ...plainRange,
  interval: Optional(
    Enum([...cohortUnits], { default: "day", description: "of cohorts and periods, by the clocks of `timezone`" }),
  ),
  cohort: Optional(
    EventName("`first_seen`: when somebody was seen first; or a custom event: its first one in the range", firstSeen),
  ),
  return: Optional(EventName("what brings people back: `session`, or a custom event", session)),
  periods: Optional(
    Integer({ minimum: 1, maximum: retentionLimits.periods, default: 7, description: "after the one of the cohort" }),
  ),
  mode: Optional(
    Enum([...periodModes], {
      default: "calendar",
      description: "periods: intervals of the calendar; or 24 hours, 7 or 30 days each, from the first time on",
    }),
  ),
  steps: Optional(
    List(EventName("of a custom event"), {
      minItems: retentionLimits.leastSteps,
      maxItems: retentionLimits.steps,
      description: "asks for a funnel instead: events that come one after another; the first one in the range",
    }),
  ),
  window_hours: Optional(
    Integer({
      minimum: 1,
      maximum: retentionLimits.windowHours,
      default: 168,
      description: "of a funnel: within how many hours after its first step the last one may come",
    }),
  ),
});
export type RetentionQuery = Static<typeof RetentionQuery>;

const Cohort = Members({
  at: DateTime,
  size: Integer({ description: "people" }),
  retained: List(Nullable(Integer({ description: "null: the period is not over for all of them" })), {
    description: "people of the cohort who came back in each period; the first one is that of the cohort",
  }),
  rates: List(Nullable(Num()), { description: "`retained` as parts of `size`; null of nobody" }),
});

const Step = Members({
  name: Text(),
  reached: Integer({ description: "people" }),
  lost: Integer({ description: "people who reached the step before, and whose time is over" }),
  pending: Integer({ description: "people who reached the step before, and still have time" }),
  rate: Nullable(Num({ description: "those who reached it, as a part of those who began" })),
  median_ms: Nullable(Integer({ description: "from the first step on, within 2 %; null of the first step" })),
  p90_ms: Nullable(Integer({ description: "the time in which 90 % of them came here" })),
});

const { previous: _previous, as_of: _asOf, ...plainReply } = rangeReply;

/** Members of every answer that a job makes. */
export const reportReply = {
  ...plainReply,
  as_of: Nullable(Text({ format: "date-time", description: "when the events were read; null before" })),
  progress: countProgress,
};

/** Who came back, or how far people came. */
export const Retention = Members({
  ...reportReply,
  cohorts: Nullable(
    List(Cohort, { description: "one for each interval of the range; null of a funnel, and until it was counted" }),
  ),
  funnel: Nullable(
    Members(
      { window_hours: Integer(), steps: List(Step) },
      { description: "null where none is asked for, and until it was counted" },
    ),
  ),
});
export type Retention = Static<typeof Retention>;

named({ Retention });
