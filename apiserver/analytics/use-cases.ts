import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { deliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { eventSums } from "#core/storage/analytics/event-sums.ts";
import { messageParts } from "#core/storage/analytics/message-parts.ts";
import { messageReports } from "#core/storage/analytics/message-reports.ts";
import { peopleReports } from "#core/storage/analytics/people-reports.ts";
import { oldestChange } from "#core/storage/analytics/quarter-counts.ts";
import { firstCountedConversion } from "#core/storage/events/conversion-days.ts";
import { oldestConversion } from "#core/storage/events/conversions.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { messages } from "#core/storage/messages/messages.ts";
import { sessionMonths } from "#core/storage/people/session-months.ts";
import type { Cursors } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { audience } from "./audience.ts";
import { channelTotals } from "./channels.ts";
import { failures } from "./failures.ts";
import { messageReport } from "./message-report.ts";
import { messageTotals } from "./messages.ts";
import { outcomes } from "./outcomes.ts";
import { overview } from "./overview.ts";
import { recount } from "./recount.ts";
import { retention } from "./retention.ts";
import { timeseries } from "./timeseries.ts";

export type AnalyticsPlatform = { db: Db; limit: NarrowLimit; clock: Clock; cursors: Cursors };

export type AnalyticsUse = ReturnType<typeof analyticsUseCases>;

/** What the operations on analytics do. */
export const analyticsUseCases = ({ db, limit, clock, cursors }: AnalyticsPlatform) => {
  const deps = {
    counters: deliveryCounters(db),
    due: dueQuarters(db, clock),
    oldestChange: oldestChange(db),
    limit,
    clock,
  };
  const people = { reports: peopleReports(db), firstSession: sessionMonths(db).first, limit, clock };
  return {
    overview: overview({ ...deps, reports: people.reports }),
    timeseries: timeseries(deps),
    channels: channelTotals(deps),
    failures: failures(deps),
    messages: messageTotals({ ...deps, messages: messages(db), cursors }),
    messageReport: messageReport({
      messages: messages(db),
      reports: messageReports(db),
      partsOf: messageParts(db),
      limit,
      clock,
    }),
    audience: audience(people),
    retention: retention({ ...people, definitions: eventDefinitions(db) }),
    recount: recount({ due: deps.due, limit, clock }),
    outcomes: outcomes({
      sums: eventSums(db),
      definitions: eventDefinitions(db),
      firstCounted: firstCountedConversion(db),
      oldestStored: oldestConversion(db),
      reports: people.reports,
      limit,
      clock,
    }),
  };
};
