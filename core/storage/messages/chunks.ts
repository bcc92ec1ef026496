import type { Collection, Db, Filter } from "mongodb";
import type { Timed } from "../../domain/messages/optimized.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, longAgo } from "../mongo/collection.ts";
import type { Stretch } from "../people/subscription-counts.ts";
import { type DueWork, dueIndex, type SuspendedWork, suspendedIndex } from "../work/due.ts";
import { extendLease, type LeasedTo, type LeaseTerm, leasedTo, settle, takeLease } from "../work/leases.ts";

/** Recipients of one chunk at most; also the page of the audience scan. */
export const chunkSize = 500;

/**
 * A part of a message's audience that is sent as one piece of work. Its id follows from (message, position), a retry's
 * from the chunk it continues, so that making it twice makes it once.
 */
export type ChunkRow = DueWork &
  SuspendedWork & {
    _id: string;
    message_id: string;
    tenant_id: string;
    app_id: string;
    plan: string;
    channel: Channel;
    /** Position in the audience; retries keep their parent's. {@link resendPosition} of one that sends again. */
    position: number;
    /** `waiting`: not yet let into the queue; `scheduled`: until its time; `open`: queued, being sent or due later; `done`. */
    status: "waiting" | "scheduled" | "open" | "done";
    /** Subscription ids, ascending; emptied when done, but for retries. */
    recipients: string[];
    /** Where the audience scan stands after this chunk; null for retries and for audiences of explicit ids. */
    scanned: (Stretch & { after: string }) | null;
    /**
     * Of one that plans a range of the audience and sends nothing: its chunks hold who is meant of the subscriptions behind
     * this one, up to `scanned`.
     */
    range_after?: string;
    /** The chunk that a retry continues, or whose range it is a part of; null for another first send. */
    parent_id: string | null;
    /** 0 for a first send; n for the n-th retry. */
    attempt: number;
    /** Whether an interrupted first turn may have reached some of its recipients already. */
    may_overlap: boolean;
    /** Whether its recipients may have the message already: the answer to an earlier attempt was lost. */
    may_have_arrived: boolean;
    /** Of one that sends to addresses in the place of others: the `attempt` at which they are tried first. */
    instead_from?: number;
    /** Of a retry: what became of the tries before, the latest of them. */
    tried?: Tried[];
    /** Of a retry whose message has a collapse id: the keys of its recipients, see `collapseKey`; emptied when done. */
    collapse_keys?: string[];
    /** First dispatch of the recipients: the ttl counts from here. Null before it. */
    dispatched_at: Date | null;
    /** When its recipients are due, of one whose recipients were sorted by that. The ttl counts from here until the first dispatch. */
    scheduled_for?: Date;
    /** Its recipients have deliveries that wait, whose place their outcomes take. */
    has_rows?: true;
    /** Its recipients have instants of their own: it takes as long as these, and mostly waits. */
    is_throttled?: true;
    /** Of one of a throttled message: about when its first recipient is sent to, and the first of the next chunk. */
    expected?: { from: Date; until: Date };
    /** Its recipients are to have such deliveries, and may have none yet. */
    rows_due?: true;
    /** It was sorted by the zone of the app, as that of its recipients is not known. */
    zone_unknown?: true;
    /**
     * Of one that sends a delivery again which failed after its provider had taken it: the end of its ttl. Its message need
     * not wait for it, and may have ended.
     */
    resend_until?: Date;
    /** Of one of an optimised message: whether its recipients are of the control. */
    timing?: Timed;
    /** Of one that sends nothing: its recipients were sent to before, and get the step at this position of `fallback` if that is due. */
    looks_at?: number;
    /** Of one that sends such a step: its position, and the delivery that each address comes after. */
    fallback?: { step: number; of: Record<string, string> };
    created_at: Date;
  };

/** A try that is made again. `code`: null when its answer was lost. */
export type Tried = {
  at: Date;
  provider: string;
  code: string | null;
  provider_code: string | null;
  answer: string;
};

/** How often its recipients were tried before. */
export const triesBefore = ({ attempt, instead_from: from = 0 }: Pick<ChunkRow, "attempt" | "instead_from">): number =>
  attempt - from;

/** Outside of the audience, so that the message does not wait for it. */
export const resendPosition = -1;

export const chunkCollection: CollectionSpec = {
  name: "chunks",
  indexes: [
    { key: { message_id: 1, attempt: 1, position: 1 }, name: "position" },
    { key: { message_id: 1, status: 1, position: 1 }, name: "status" },
    {
      key: { message_id: 1, status: 1, scheduled_for: 1 },
      name: "scheduled",
      partialFilterExpression: { scheduled_for: { $gt: longAgo } },
    },
    {
      key: { message_id: 1, rows_due: 1, position: 1 },
      name: "rows_due",
      partialFilterExpression: { rows_due: { $exists: true } },
    },
    { key: { parent_id: 1 }, name: "retries", partialFilterExpression: { parent_id: { $gt: "" } } },
    { key: { collapse_keys: 1 }, name: "collapse", partialFilterExpression: { collapse_keys: { $gt: "" } } },
    // Chunks only matter while their message is processed: at most the longest ttl (28 days) and its retries.
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: 32 * 86_400 },
    suspendedIndex,
    dueIndex,
  ],
  owner: { kind: "message", member: "message_id" },
  appRemoval: { with: "messages" },
  erasure: { kept: "ids of subscriptions alone, for a month" },
  retention: { index: "retention" },
};

export type Chunks = ReturnType<typeof chunks>;

export const chunks = (db: Db) => {
  const rows = collectionOf<ChunkRow>(db, chunkCollection);
  return {
    ...leasing(rows),
    ...queueing(rows),
    ...scheduling(rows),
    ...expecting(rows),

    /**
     * Writes chunks that are not there yet, in order, so that a kill leaves no gap; the ones that are there stay. Whether
     * none was there.
     */
    keep: async (made: readonly ChunkRow[]): Promise<boolean> => {
      if (made.length === 0) return true;
      const { upsertedCount } = await rows.bulkWrite(
        made.map((chunk) => ({
          updateOne: { filter: { _id: chunk._id }, update: { $setOnInsert: chunk }, upsert: true },
        })),
        { ordered: true },
      );
      return upsertedCount === made.length;
    },

    /** The last subscription that a part of a range reaches to; null when there is no such part. */
    reachOf: async (id: string): Promise<string | null> =>
      (await rows.findOne({ _id: id }, { projection: { "scanned.after": 1 } }))?.scanned?.after ?? null,

    /** Removes chunks that were not let into the queue yet: an audience that was cut in part is cut from its beginning. */
    discardWaiting: async (messageId: string): Promise<void> => {
      await rows.deleteMany({ message_id: messageId, status: "waiting" });
    },

    /** The last chunk of the first send, by position: the audience scan goes on behind it. */
    last: (messageId: string): Promise<ChunkRow | null> =>
      rows.findOne(
        { message_id: messageId, attempt: 0, position: { $gte: 0 }, parent_id: null },
        { sort: { position: -1 } },
      ),

    /** Whether the first chunk was let into the queue, which happens only when all of them are cut. */
    isBegun: async (messageId: string): Promise<boolean> => {
      const first = await firstOf(rows, messageId);
      return first !== null && first.status !== "waiting";
    },

    /** Whether a message is sent by chunks alone: none of it was sent before they were cut. */
    isCut: async (messageId: string): Promise<boolean> => (await firstOf(rows, messageId))?.may_overlap === false,

    /** Recipients that an earlier, interrupted run of this chunk already handed to a retry. */
    recipientsOfRetries: (parentId: string): Promise<string[]> => recipientsIn(rows, { parent_id: parentId }),

    /** The same of all chunks of a message. */
    retriedOf: (messageId: string): Promise<string[]> =>
      recipientsIn(rows, { message_id: messageId, attempt: { $gt: 0 }, position: { $gte: 0 } }),
  };
};

const recipientsIn = async (rows: Collection<ChunkRow>, filter: Filter<ChunkRow>): Promise<string[]> =>
  (await rows.find(filter, { projection: { recipients: 1 } }).toArray()).flatMap((chunk) => chunk.recipients);

const firstOf = (rows: Collection<ChunkRow>, messageId: string): Promise<ChunkRow | null> =>
  rows.findOne({ message_id: messageId, attempt: 0, position: 0, parent_id: null });

const queueing = (rows: Collection<ChunkRow>) => ({
  countOpen: (messageId: string, most: number): Promise<number> =>
    rows.countDocuments({ message_id: messageId, status: "open", position: { $gte: 0 } }, { limit: most }),

  /** Chunks that wait to be let into the queue, first ones first. */
  waiting: (messageId: string, limit: number): Promise<ChunkRow[]> =>
    rows
      .find({ message_id: messageId, status: "waiting", position: { $gte: 0 } })
      .sort({ position: 1 })
      .limit(limit)
      .toArray(),

  open: async (ids: readonly string[], dueAt: Date): Promise<void> => {
    const waiting = { _id: { $in: [...ids] }, status: { $in: ["waiting" as const, "scheduled" as const] } };
    await rows.updateMany(waiting, { $set: { status: "open", due_at: dueAt } });
  },
});

/** Both ends, without which the planner does not take the partial index. */
const anyTime = { $gt: longAgo, $lt: new Date("9999-01-01") };

/** A chunk that waits for its time, without its recipients. */
export type ScheduledChunk = Omit<ChunkRow, "recipients"> & { scheduled_for: Date };

const scheduling = (rows: Collection<ChunkRow>) => ({
  /** The scheduled chunks of a message that are due first, without their recipients. */
  nextScheduled: (messageId: string, limit: number): Promise<ScheduledChunk[]> =>
    rows
      .find<ScheduledChunk>(
        { message_id: messageId, status: "scheduled", scheduled_for: anyTime },
        { projection: { recipients: 0 } },
      )
      .sort({ scheduled_for: 1 })
      .limit(limit)
      .toArray(),

  /** Scheduled chunks whose recipients have deliveries that wait, of those that a chunk's recipients were put into. */
  withRowsOf: (parentId: string): Promise<ChunkRow[]> =>
    rows.find({ parent_id: parentId, status: "scheduled", has_rows: true }).toArray(),

  /** Some scheduled chunks of a message, whenever they are due. */
  scheduled: (messageId: string, limit: number): Promise<ChunkRow[]> =>
    rows.find({ message_id: messageId, status: "scheduled", scheduled_for: anyTime }).limit(limit).toArray(),

  /** Ends chunks that wait without sending them. */
  withdraw: async (ids: readonly string[]): Promise<void> => {
    const waiting = { _id: { $in: [...ids] }, status: { $in: ["scheduled" as const, "waiting" as const] } };
    await rows.updateMany(waiting, { $set: { status: "done", due_at: null }, $unset: { rows_due: "" } });
  },
});

/** Chunks of throttled messages, which wait for those before them. */
const expecting = (rows: Collection<ChunkRow>) => ({
  /** How many of a message's chunks wait to be let into the queue; `most` at most. */
  countWaiting: (messageId: string, most: number): Promise<number> =>
    rows.countDocuments({ message_id: messageId, status: "waiting", position: { $gte: 0 } }, { limit: most }),

  /** The first that wait and whose recipients are to have deliveries. */
  withoutRows: (messageId: string, limit: number): Promise<ChunkRow[]> =>
    rows
      .find({ message_id: messageId, rows_due: true, status: "waiting" }, { hint: "rows_due" })
      .sort({ position: 1 })
      .limit(limit)
      .toArray(),

  /** Notes that they have them; false when the chunk was withdrawn. */
  rowsWritten: async ({ _id }: Pick<ChunkRow, "_id">): Promise<boolean> =>
    (await rows.updateOne({ _id, status: { $ne: "done" } }, { $unset: { rows_due: "" } })).matchedCount === 1,

  /** Some that wait and whose recipients may have deliveries. */
  waitingWithRows: (messageId: string, limit: number): Promise<ChunkRow[]> =>
    rows
      .find({ message_id: messageId, status: "waiting", position: { $gte: 0 }, has_rows: true }, { hint: "status" })
      .limit(limit)
      .toArray(),
});

const leasing = (rows: Collection<ChunkRow>) => ({
  /** Takes an open chunk whose lease is free. */
  take: (id: string, term: LeaseTerm): Promise<ChunkRow | null> =>
    takeLease(rows, { id, ...term, when: { status: "open" } }),

  extend: (chunk: ChunkRow, now: Date, leaseMs: number): Promise<boolean> => extendLease(rows, chunk, { now, leaseMs }),

  leased: (to: LeasedTo): Promise<ChunkRow[]> => leasedTo(rows, to),

  /**
   * Ends a chunk: its recipients are in their deliveries, or in a retry. A retry keeps its list: should the run of its
   * parent have been cut short, the parent is run again and leaves these out.
   */
  end: (chunk: ChunkRow): Promise<boolean> => {
    const isFirst = chunk.parent_id === null || chunk.scanned !== null;
    const emptied = isFirst ? { recipients: [] } : chunk.collapse_keys && { collapse_keys: [] };
    return settle(rows, chunk, { dueAt: null, set: { status: "done", ...emptied } });
  },

  giveBack: (chunk: ChunkRow, dueAt: Date): Promise<boolean> => settle(rows, chunk, { dueAt }),

  /** Gives it back until its tenant may send again, or until `dueAt`. */
  defer: (chunk: ChunkRow, dueAt: Date): Promise<boolean> =>
    settle(rows, chunk, { dueAt, set: { suspended_tenant: chunk.tenant_id } }),
});
