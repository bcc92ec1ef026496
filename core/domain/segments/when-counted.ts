import { dayMs } from "../durations.ts";

const hourMs = 3_600_000;

/** What decides whether a segment is counted now that its turn has come. */
export type CountState = { countedAt: Date | null; askedAt: Date; isUsed: boolean };

/** When it was asked for, hourly while something uses the segment, else daily. Source: docs/reference/segments.md#counts. */
export const isCountDue = ({ countedAt, askedAt, isUsed }: CountState, now: Date): boolean =>
  countedAt === null ||
  askedAt.getTime() >= countedAt.getTime() ||
  now.getTime() - countedAt.getTime() >= (isUsed ? hourMs : dayMs) - slackMs;

const slackMs = 60_000; // its turn comes each hour: what is counted then counts from a moment later

/** When its turn comes again; spread, so that segments that were made at once are not counted at once for ever. */
export const nextTurn = (now: Date, random: () => number): Date =>
  new Date(now.getTime() + hourMs + Math.floor(random() * spreadMs));

const spreadMs = 60_000;
