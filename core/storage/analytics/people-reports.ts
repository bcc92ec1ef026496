import { hash } from "node:crypto";
import type { Db } from "mongodb";
import type { AudienceCounts, AudienceSpec } from "../../domain/analytics/audience.ts";
import type { FunnelStep } from "../../domain/analytics/funnel.ts";
import type { Cohort, RetentionSpec } from "../../domain/analytics/retention.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { retryConflicts, unlessTaken } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";

/** What is asked of the histories of people. `cohort`: null, by when they were seen first; `back`: null, sessions. */
export type PeopleQuestion =
  | ({ kind: "retention"; cohort: string | null; back: string | null } & RetentionSpec)
  | ({ kind: "audience" } & AudienceSpec)
  | { kind: "funnel"; range: { from: Date; to: Date }; steps: string[]; windowHours: number };

export type PeopleResult = { cohorts: Cohort[] } | { steps: FunnelStep[] } | { audience: AudienceCounts };

/** Who came back, how far people came, or who is there: counted by a job once somebody asks. `_id` follows from app and question. */
export type PeopleReportRow = JobRow & {
  question: PeopleQuestion;
  asked_at: Date;
  /** When the histories were read; null before. */
  as_of: Date | null;
  result: PeopleResult | null;
  /** Not counted again before. */
  rests_until: Date;
  /** People whom former counts have read. */
  read_before: number;
};

const keptDays = 7; // since somebody asked

export const peopleReportCollection: CollectionSpec = {
  name: "people_reports",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { asked_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type PeopleReports = ReturnType<typeof peopleReports>;

export const peopleReports = (db: Db) => {
  const rows = collectionOf<PeopleReportRow>(db, peopleReportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, question: PeopleQuestion): Promise<PeopleReportRow | null> =>
      rows.findOne({ _id: reportIdOf(appId, question), app_id: appId, tenant_id: tenantId }),

    /** Has it counted, or counted again, unless it is about to be. */
    ask: async ({ tenantId, appId }: OfApp, question: PeopleQuestion, now: Date): Promise<void> => {
      const row = { ...newReport(question, now), _id: reportIdOf(appId, question), tenant_id: tenantId, app_id: appId };
      const isNew = await unlessTaken(() => retryConflicts(() => rows.insertOne(row)), null);
      if (isNew !== null) return;
      const filter = { _id: row._id, tenant_id: tenantId, due_at: null };
      await rows.updateOne(filter, { $set: { asked_at: now, due_at: now } });
    },
  };
};

export const reportIdOf = (appId: string, question: PeopleQuestion): string =>
  hash("sha256", JSON.stringify([appId, question]), "base64url").slice(0, 32);

const newReport = (question: PeopleQuestion, now: Date) => ({
  question,
  asked_at: now,
  as_of: null,
  result: null,
  rests_until: now,
  read_before: 0,
  due_at: now,
  lease: null,
  fence: 0,
});
