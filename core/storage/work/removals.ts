import type { Db, UpdateFilter } from "mongodb";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { dueIndex, noWork } from "./due.ts";
import type { JobRow } from "./jobs.ts";

/**
 * What is being removed and what follows from it. Written before anything is removed, so that a kill in between leaves
 * nothing undone; removed itself when nothing is left to do.
 */
export type RemovalRow = JobRow & {
  /** What is removed: `_id` is its id. */
  kind: "user" | "subscription" | "app" | "webhook" | "segment" | "merge";
  /** By what the events about a user are found, in the history of webhooks too: their id, and `<label>:<id>` for ids of the app. */
  keys: string[];
  /** How often the history has been gone through. */
  passes: number;
  /** Of a user: they are erased, not only deleted. */
  is_erased?: true;
  /** Of a merge: the user as they were when they were taken away, and who gets what was theirs. */
  merge?: { source: object; into: string };
  /** Of an app that the REST interface deleted: what it shows of it meanwhile. */
  app?: RemovedApp;
  /** Events that may not have been published yet: those that what is removed had left, and that of the removal. */
  outbox: OutboxEvent[];
  removed_at: Date;
};

export type RemovedApp = { name: string; time_zone: string; created_at: Date; updated_at: Date };

export const removalCollection: CollectionSpec = {
  name: "removals",
  indexes: [dueIndex],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { kept: "the removal itself: it goes when nothing is left to do" },
  erasure: { kept: "its keys are what people are erased by: they go with it" },
  retention: { kept: "until nothing is left to do" },
};

/** What every removal begins with. */
export const removal = ({ _id, tenant_id, app_id }: Pick<RemovalRow, "_id" | "tenant_id" | "app_id">, now: Date) => ({
  ...noWork,
  _id,
  tenant_id,
  app_id,
  passes: 0,
  removed_at: now,
  due_at: new Date(now.getTime() + soonMs),
});

/** The removal of an endpoint: what was sent to it goes with it. */
export const webhookRemoval = (endpoint: Pick<RemovalRow, "_id" | "tenant_id" | "app_id">, now: Date): RemovalRow => ({
  ...removal(endpoint, now),
  kind: "webhook",
  keys: [],
  outbox: [],
});

/** The removal of a segment: whoever is on its list is taken from it. */
export const segmentRemoval = (segment: Pick<RemovalRow, "_id" | "tenant_id" | "app_id">, now: Date): RemovalRow => ({
  ...webhookRemoval(segment, now),
  kind: "segment",
});

const soonMs = 1_000; // by then who asked for the removal has done it and published its events

/** Ids that were added before stay: they may be in events, too. */
const renewed = ({ keys, outbox, is_erased, removed_at, due_at }: RemovalRow): UpdateFilter<RemovalRow> => ({
  $addToSet: { keys: { $each: keys } },
  $set: { outbox, ...(is_erased && { is_erased, passes: 0, removed_at, due_at }) }, // files are to be read from the first pass on
});

export type Removals = ReturnType<typeof removals>;

export const removals = (db: Db) => {
  const rows = collectionOf<RemovalRow>(db, removalCollection);
  return {
    /**
     * Writes down that something is to be removed. When that was written before: the removal of an app, endpoint or segment, which may be
     * kept after all, counts from now; that of a user gets the events of now; another stays as it is.
     */
    begin: async (row: RemovalRow): Promise<void> => {
      if (await insertNew(rows, row)) return;
      const { _id, passes, removed_at, due_at, app } = row;
      if (row.kind === "app" || row.kind === "webhook" || row.kind === "segment")
        await rows.updateOne({ _id }, { $set: { passes, removed_at, due_at, ...(app && { app }) } });
      if (row.kind === "user") await rows.updateOne({ _id }, renewed(row));
    },

    /** That of an app of a tenant, until nothing is left to do. */
    ofApp: (tenantId: string, appId: string): Promise<RemovalRow | null> =>
      rows.findOne({ _id: appId, tenant_id: tenantId, kind: "app" }),

    /** Nothing is left to do, unless it was asked for again meanwhile. */
    end: async ({ _id, fence, removed_at }: RemovalRow): Promise<void> => {
      await rows.deleteOne({ _id, fence, removed_at });
    },
  };
};
