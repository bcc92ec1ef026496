import { hash } from "node:crypto";
import type { Db } from "mongodb";
import type { AudienceCounts, AudienceSpec } from "../../domain/analytics/audience.ts";
import type { FunnelStep } from "../../domain/analytics/funnel.ts";
import type { Cohort, RetentionSpec } from "../../domain/analytics/retention.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import type { Counted } from "./event-sums.ts";
import { askFor, newReport, type ReportRow, reportCollection } from "./reports.ts";

/** What is asked of the histories of people. `cohort`: null, by when they were seen first; `back`: null, sessions. */
export type PeopleQuestion =
  | ({ kind: "retention"; cohort: string | null; back: string | null } & RetentionSpec)
  | ({ kind: "audience" } & AudienceSpec)
  | { kind: "outcomes"; range: { from: Date; to: Date }; names: string[]; counted: Counted }
  | { kind: "funnel"; range: { from: Date; to: Date }; steps: string[]; windowHours: number };

export type PeopleResult =
  | { cohorts: Cohort[] }
  | { steps: FunnelStep[] }
  | { audience: AudienceCounts }
  | { outcomes: OutcomePeople[] };

/** Different people of a name's events or conversions, and the messages that led to most of these, and channels. */
export type OutcomePeople = {
  name: string;
  unique_users: number;
  by_message: { message_id: string; count: number; sum: number }[];
  by_channel: { channel: Channel; count: number; sum: number }[];
};

/** Who came back, how far people came, or who is there: counted by a job once somebody asks. `_id` follows from app and question. */
export type PeopleReportRow = ReportRow & {
  question: PeopleQuestion;
  result: PeopleResult | null;
  /** What `result` is of; absent before, and in what a former release has counted. */
  counted?: PeopleQuestion;
  /** People whom former counts have read. */
  read_before: number;
};

export const peopleReportCollection: CollectionSpec = reportCollection("people_reports", { keptDays: 7 });

export type PeopleReports = ReturnType<typeof peopleReports>;

export const peopleReports = (db: Db) => {
  const rows = collectionOf<PeopleReportRow>(db, peopleReportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, question: PeopleQuestion, kind?: Asking): Promise<PeopleReportRow | null> =>
      rows.findOne({ _id: reportIdOf(appId, question, kind), app_id: appId, tenant_id: tenantId }),

    /** Has it counted, or counted again, unless it is about to be. */
    ask: async ({ tenantId, appId }: OfApp, question: PeopleQuestion, now: Date, kind?: Asking): Promise<void> => {
      const of = { _id: reportIdOf(appId, question, kind), tenant_id: tenantId, app_id: appId };
      const row = { ...newReport(now), ...of, question, result: null, read_before: 0 };
      await askFor(rows, row, { dueAt: now, set: { question } });
    },
  };
};

/** `latest`: of the range that ends when it is asked, which is the same question each time. */
export type Asking = { isLatest: boolean };

export const reportIdOf = (
  appId: string,
  question: PeopleQuestion,
  { isLatest }: Asking = { isLatest: false },
): string =>
  hash("sha256", JSON.stringify([appId, isLatest ? { ...question, range: null } : question]), "base64url").slice(0, 32);
