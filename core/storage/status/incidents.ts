import type { Db } from "mongodb";
import { defined } from "../../domain/defined.ts";
import type { Component, IncidentStatus, Severity } from "../../schema/status/vocabulary.ts";
import { type CollectionSpec, collectionOf, farAhead } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import type { Managed } from "../settings/managed.ts";

/** `request`: the one with an idempotency key that it was told with. */
export type IncidentNote = { status: IncidentStatus; message: string; created_at: Date; request?: string };

/** A disturbance of the service, as the status page publishes it. */
export type IncidentRow = {
  _id: string;
  title: string;
  severity: Severity;
  components: Component[];
  /** As the newest update has it. */
  status: IncidentStatus;
  /** The newest first. */
  updates: IncidentNote[];
  started_at: Date;
  resolved_at: Date | null;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const incidentCollection: CollectionSpec = {
  name: "incidents",
  indexes: [
    { key: { resolved_at: 1 }, name: "resolved" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "the history of the service" },
};

const mostOpen = 100;
const mostEnded = 200;

export type Incidents = ReturnType<typeof incidents>;

/** Incidents, of which the operator writes those that a resource stands for. */
export const incidents = (db: Db) => {
  const rows = collectionOf<IncidentRow>(db, incidentCollection);
  return {
    find: (id: string): Promise<IncidentRow | null> => rows.findOne({ _id: id }),

    insert: async (row: IncidentRow): Promise<void> => {
      await rows.insertOne(row);
    },

    /** Writes some members of an incident as it was read; null when another was quicker. */
    change: ({ _id, updated_at }: IncidentRow, set: Partial<IncidentRow>): Promise<IncidentRow | null> =>
      rows.findOneAndUpdate({ _id, updated_at }, { $set: set }, { returnDocument: "after" }),

    /** False when it is no longer as it was read. */
    remove: async ({ _id, updated_at }: IncidentRow): Promise<boolean> =>
      (await rows.deleteOne({ _id, updated_at })).deletedCount === 1,

    /** One page, in the order in which they were made. */
    page: (
      statuses: readonly IncidentStatus[] | undefined,
      page: PagePlace & { limit: number },
    ): Promise<IncidentRow[]> =>
      rows
        .find({
          _id: pageRange("incident", {}, page),
          ...defined({ status: statuses === undefined ? undefined : { $in: [...statuses] } }),
        })
        .sort({ _id: page.isDescending ? -1 : 1 })
        .limit(page.limit)
        .toArray(),

    /** Those that are open, and those that ended after an instant; the newest first. */
    since: async (instant: Date): Promise<IncidentRow[]> => {
      const open = rows.find({ resolved_at: null }, { hint: "resolved" }).limit(mostOpen);
      const ended = rows
        .find({ resolved_at: { $gt: instant, $lt: farAhead } }, { hint: "resolved" })
        .sort({ resolved_at: -1 })
        .limit(mostEnded);
      const found = [...(await open.toArray()), ...(await ended.toArray())];
      return found.sort((a, b) => b.started_at.getTime() - a.started_at.getTime());
    },
  };
};
