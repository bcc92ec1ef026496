import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { type CollectionSpec, collectionOf, longAgo } from "../mongo/collection.ts";
import { unlessTaken } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";

/** That a segment is to be counted: `_id` is the segment's. Due when it has changed, and now and then. */
export type SegmentCountRow = JobRow & {
  /** When it was asked for last: a count that began before is not what was asked for. */
  asked_at: Date;
  /** Since when it waits for another count of its app; null while it does not. */
  waiting_since: Date | null;
  /** Whether the run that has the lease counts, and does not only look whether another does. */
  is_counting: boolean;
};

export const segmentCountCollection: CollectionSpec = {
  name: "segment_counts",
  indexes: [
    dueIndex,
    { key: { app_id: 1, "lease.until": 1 }, name: "under_way" },
    { key: { app_id: 1, waiting_since: 1 }, name: "waiting" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "waiting" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its segment, or the app, goes" },
};

/** A segment that is to be counted. */
type Counted = { _id: string; tenant_id: string; app_id: string };

/** A run, as it took the document. */
type Run = Pick<SegmentCountRow, "_id" | "fence">;

export type SegmentCounts = ReturnType<typeof segmentCounts>;

/** Until a count begins that was asked for: by then the segment is stored. */
const soonMs = 1_000;

export const segmentCounts = (db: Db) => {
  const rows = collectionOf<SegmentCountRow>(db, segmentCountCollection);
  return {
    /** Has segments counted. A count that is under way loses its lease: it counts what is no longer asked for. */
    ask: async (segments: readonly Counted[], now: Date): Promise<void> => {
      const writes = asking(segments, now);
      // a duplicate: somebody else asked for the same at the same moment
      if (writes.length > 0) await unlessTaken(() => rows.bulkWrite(writes, { ordered: false }), null);
    },

    /** Has a list counted soon, once for many changes of who is on it; a count that is under way goes on. */
    askSoon: async ({ _id, ...of }: Counted, now: Date, afterMs: number): Promise<void> => {
      const change = {
        $set: { asked_at: now },
        $min: { due_at: new Date(now.getTime() + afterMs) },
        $setOnInsert: { ...ownerOf(of), lease: null, fence: 0, waiting_since: null, is_counting: false },
      };
      await unlessTaken(() => rows.updateOne({ _id }, change, { upsert: true }), null);
    },

    /** When a run's count was asked for last; null when the run has lost its document. */
    askedAt: async ({ _id, fence }: Run): Promise<Date | null> =>
      (await rows.findOne({ _id, fence }, { projection: { asked_at: 1 } }))?.asked_at ?? null,

    /** Has a segment counted at `dueAt` that was asked for at `begunAt` or later. */
    askedSince: async (_id: string, begunAt: Date, dueAt: Date): Promise<void> => {
      await rows.updateOne({ _id, asked_at: { $gte: begunAt } }, { $min: { due_at: dueAt } });
    },

    /** Begins unless another segment of the app is being counted, or was taken before this one and is about to be. */
    begin: async (row: SegmentCountRow, now: Date): Promise<boolean> => {
      const { _id, fence, app_id } = row;
      const others = await underWay(rows, app_id, now);
      if (others.some((other) => other._id !== _id && (other.is_counting || isBefore(other, row)))) return false;
      const { matchedCount } = await rows.updateOne({ _id, fence }, { $set: { is_counting: true } });
      return matchedCount === 1;
    },

    /** Has the segment counted next that has waited longest for its app. */
    wakeNext: (app_id: string, now: Date): Promise<void> => wakeNext(rows, app_id, now),

    /** The same, unless some segment of the app is under way: that wakes the next when it ends. */
    wakeUnlessBusy: async (app_id: string, now: Date): Promise<void> => {
      if ((await underWay(rows, app_id, now)).length === 0) await wakeNext(rows, app_id, now);
    },

    /** Removes that of a segment that is removed: a count under way finds that within a second, and ends. The next may begin. */
    cancel: async (_id: string, now: Date): Promise<void> => {
      const row = await rows.findOneAndDelete({ _id }, { projection: { app_id: 1, is_counting: 1 } });
      if (row?.is_counting === true) await wakeNext(rows, row.app_id, now);
    },

    /** Removes that of a segment which is gone, unless it was asked for again meanwhile. */
    drop: async ({ _id, fence }: Run): Promise<void> => {
      await rows.deleteOne({ _id, fence });
    },
  };
};

const asking = (segments: readonly Counted[], now: Date): AnyBulkWriteOperation<SegmentCountRow>[] => {
  const due_at = new Date(now.getTime() + soonMs);
  return segments.map(({ _id, ...of }) => ({
    updateOne: {
      filter: { _id },
      update: {
        $set: { asked_at: now, due_at, lease: null, waiting_since: null, is_counting: false },
        $inc: { fence: 1 },
        $setOnInsert: ownerOf(of),
      },
      upsert: true,
    },
  }));
};

const underWay = (rows: Rows, app_id: string, now: Date): Promise<SegmentCountRow[]> =>
  rows
    .find({ app_id, "lease.until": { $gt: now } }, { hint: "under_way" })
    .limit(mostUnderWay)
    .toArray();

const wakeNext = async (rows: Rows, app_id: string, now: Date): Promise<void> => {
  const waiting = { app_id, waiting_since: { $gt: longAgo, $lte: now } };
  const change = { $set: { due_at: now, waiting_since: null } };
  await rows.findOneAndUpdate(waiting, change, { sort: { waiting_since: 1 }, projection: { _id: 1 } });
};

type Rows = Collection<SegmentCountRow>;

const mostUnderWay = 100; // all places of some dispatchers

/** Of two that were taken at once both can tell which of them goes on. */
const isBefore = (other: SegmentCountRow, row: SegmentCountRow): boolean => {
  const [others, mine] = [other, row].map(({ lease }) => lease?.until.getTime() ?? 0) as [number, number]; // of two come two
  return others < mine || (others === mine && other._id < row._id);
};

const ownerOf = ({ tenant_id, app_id }: Omit<Counted, "_id">) => ({ tenant_id, app_id });
