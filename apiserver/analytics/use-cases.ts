import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { eventSums } from "#core/storage/analytics/event-sums.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { outcomes } from "./outcomes.ts";

export type AnalyticsPlatform = { db: Db; limit: NarrowLimit; clock: Clock };

export type AnalyticsUse = ReturnType<typeof analyticsUseCases>;

/** What the operations on analytics do. */
export const analyticsUseCases = ({ db, limit, clock }: AnalyticsPlatform) => ({
  outcomes: outcomes({ sums: eventSums(db), definitions: eventDefinitions(db), limit, clock }),
});
