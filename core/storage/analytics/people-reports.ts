import { hash } from "node:crypto";
import type { Db } from "mongodb";
import type { AudienceCounts, AudienceSpec } from "../../domain/analytics/audience.ts";
import type { FunnelStep } from "../../domain/analytics/funnel.ts";
import type { Cohort, RetentionSpec } from "../../domain/analytics/retention.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { askFor, newReport, type ReportRow, reportCollection } from "./reports.ts";

/** What is asked of the histories of people. `cohort`: null, by when they were seen first; `back`: null, sessions. */
export type PeopleQuestion =
  | ({ kind: "retention"; cohort: string | null; back: string | null } & RetentionSpec)
  | ({ kind: "audience" } & AudienceSpec)
  | { kind: "funnel"; range: { from: Date; to: Date }; steps: string[]; windowHours: number };

export type PeopleResult = { cohorts: Cohort[] } | { steps: FunnelStep[] } | { audience: AudienceCounts };

/** Who came back, how far people came, or who is there: counted by a job once somebody asks. `_id` follows from app and question. */
export type PeopleReportRow = ReportRow & {
  question: PeopleQuestion;
  result: PeopleResult | null;
  /** People whom former counts have read. */
  read_before: number;
};

export const peopleReportCollection: CollectionSpec = reportCollection("people_reports", { keptDays: 7 });

export type PeopleReports = ReturnType<typeof peopleReports>;

export const peopleReports = (db: Db) => {
  const rows = collectionOf<PeopleReportRow>(db, peopleReportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, question: PeopleQuestion): Promise<PeopleReportRow | null> =>
      rows.findOne({ _id: reportIdOf(appId, question), app_id: appId, tenant_id: tenantId }),

    /** Has it counted, or counted again, unless it is about to be. */
    ask: async ({ tenantId, appId }: OfApp, question: PeopleQuestion, now: Date): Promise<void> => {
      const of = { _id: reportIdOf(appId, question), tenant_id: tenantId, app_id: appId };
      await askFor(rows, { ...newReport(now), ...of, question, result: null, read_before: 0 }, now);
    },
  };
};

export const reportIdOf = (appId: string, question: PeopleQuestion): string =>
  hash("sha256", JSON.stringify([appId, question]), "base64url").slice(0, 32);
