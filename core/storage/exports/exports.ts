import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { dueIndex } from "../work/due.ts";
import type { ExportRow } from "./export-row.ts";
import { eraseOfPerson } from "./person.ts";

/** How long an export is listed: longer than any file is kept. */
export const exportKeptDays = 30;

export const exportCollection: CollectionSpec = {
  name: "exports",
  indexes: [
    dueIndex,
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, status: 1, _id: 1 }, name: "status" },
    { key: { app_id: 1, place: 1 }, name: "place", unique: true, partialFilterExpression: { place: { $gte: 0 } } },
    { key: { app_id: 1, subject: 1, _id: -1 }, name: "subject", partialFilterExpression: { subject: { $gt: "" } } },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: exportKeptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" }, // their files: dispatcher/jobs/removals.ts
  erasure: { erase: (db, person) => eraseOfPerson(collectionOf(db, exportCollection), person) }, // a file of others goes within a week at most, or when somebody in it is erased
  retention: { index: "retention" },
};

export type Exports = ReturnType<typeof exports>;

/** What the REST interface does to exports; the job's part is work.ts. */
export const exports = (db: Db) => {
  const rows = collectionOf<ExportRow>(db, exportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, id: string): Promise<ExportRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    /** One page of an app's exports, the newest first. */
    page: ({ tenantId, appId }: OfApp, page: PagePlace & { limit: number }): Promise<ExportRow[]> =>
      rows
        .find({ app_id: appId, tenant_id: tenantId, _id: pageRange("export", {}, page) }, { hint: "list" })
        .sort({ _id: -1 })
        .limit(page.limit)
        .toArray(),

    /** The latest about a subject. */
    latest: ({ tenantId, appId }: OfApp, subject: string): Promise<ExportRow | null> =>
      rows.findOne(
        { app_id: appId, subject, tenant_id: tenantId, _id: pageRange("export", {}, newest) },
        { sort: { _id: -1 }, hint: "subject" },
      ),

    /** False when there is one of this id, or another of its app has its place. */
    insert: (row: ExportRow): Promise<boolean> => insertNew(rows, row),

    /** The places that exports of an app have, below `most`. */
    takenPlaces: async ({ tenantId, appId }: OfApp, most: number): Promise<Set<number>> => {
      const taken = { app_id: appId, place: { $gte: 0, $lt: most }, tenant_id: tenantId };
      const found = rows.find<{ place: number }>(taken, {
        projection: { _id: 0, place: 1 },
        hint: "place",
        batchSize: most + 1,
      });
      return new Set((await found.toArray()).map(({ place }) => place));
    },

    /** Ends one that has not ended; null when it has. Whoever works on it finds out with its next extension. */
    cancel: (row: ExportRow, error: string, { now, cleanAt }: Cancelled): Promise<ExportRow | null> =>
      rows.findOneAndUpdate(
        { _id: row._id, tenant_id: row.tenant_id, status: { $in: ["pending", "running"] } },
        {
          $set: {
            status: "failed",
            error,
            completed_at: now,
            lease: null,
            due_at: cleanAt,
            ...nobody(row),
            ...unmailed(row),
          },
          $unset: { place: "" },
          $inc: { fence: 1 },
        },
        { returnDocument: "after" },
      ),
  };
};

/** What is written with the end of one, so that it names nobody any more. */
export const nobody = ({ person }: Pick<ExportRow, "person">): { person?: null } =>
  person === undefined ? {} : { person: null };

/** What is written of one that has no file, so that nobody is mailed. */
export const unmailed = ({ mail_to: to }: Pick<ExportRow, "mail_to">): { mail_to?: null } =>
  to === undefined ? {} : { mail_to: null };

/** `cleanAt`: when what was written of its file is removed. */
type Cancelled = { now: Date; cleanAt: Date };

const newest = { after: null, isDescending: true };
