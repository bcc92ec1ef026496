import type { Collection, Db } from "mongodb";
import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { type Counts, zeroCounts } from "../../schema/messages/message.ts";
import { collectionOf } from "../mongo/collection.ts";
import { sweepAfter } from "../work/due.ts";
import {
  extendLease,
  type Leased,
  type LeasedTo,
  type LeaseTerm,
  leasedTo,
  settle,
  takeLease,
} from "../work/leases.ts";
import type { ChunkRow } from "./chunks.ts";
import { type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";
import { whenDone } from "./settlement.ts";

/** What a dispatcher does to messages; every write names the fence of the lease it was made under. */
export const messageWork = (db: Db) => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  return {
    ...leasing(rows),
    ...ending(rows),
    ...fallingBack(rows),

    /**
     * What a message says, for sending one of its chunks; null when it was cancelled or, unless the chunk sends again, has
     * ended. From then on it can be cancelled no more, unless the chunk is only sorted by when its recipients are due, or
     * plans a range.
     */
    content: async (
      { message_id: id, resend_until: until, scheduled_for: at, range_after: range }: ChunkOf,
      now: Date,
    ): Promise<MessageRow | null> => {
      if (until !== undefined) return rows.findOne({ _id: id, status: { $ne: "cancelled" } });
      const row = await rows.findOne({ _id: id, status: "processing" });
      if (row === null || row.dispatched_at !== undefined || range !== undefined || isSorted(row, at)) return row;
      const set = { $set: { dispatched_at: now } };
      return rows.findOneAndUpdate({ _id: id, status: "processing" }, set, { returnDocument: "after" });
    },

    /** Notes that nothing of a message was handed to a provider, so that it may be cancelled. False when it is not ours. */
    wait: async ({ _id, fence }: Leased): Promise<boolean> =>
      (await rows.updateOne({ _id, fence, status: "processing" }, { $set: { waits: true } })).matchedCount === 1,

    /** Takes that note away: from then on it can be cancelled no more. False when it was, or is not ours. */
    begin: async ({ _id, fence }: Leased): Promise<boolean> => {
      const waiting = { _id, fence, status: "processing" as const, waits: true as const };
      return (await rows.updateOne(waiting, { $unset: { waits: "" } })).matchedCount === 1;
    },

    /** Whether the message still needs a turn: a hint of one that has ended, or waits for its time, is stale. */
    needsTurn: async (id: string, now: Date): Promise<boolean> =>
      (await rows.countDocuments({ _id: id, $or: [{ status: "processing" }, dueQueued(now)] }, { limit: 1 })) > 0,

    /** Notes of a change of a live activity that a newer one has made it useless before it was sent. */
    supersede: async (id: string): Promise<void> => {
      await rows.updateOne({ _id: id, status: "processing" }, { $set: { "live_activity.is_superseded": true } });
    },

    /** Counts what was newly stored, for those who watch; when the message ends the counters are made anew from `tally`. */
    count: async (id: string, counts: Counts, now: Date, ofVariants: Record<string, Counts> = {}): Promise<void> => {
      const changes = [
        ...added("counts", counts),
        ...Object.entries(ofVariants).flatMap(([variant, of]) => added(`variant_counts.${variant}`, of)),
      ];
      if (changes.length === 0) return;
      const { matchedCount } = await rows.updateOne(
        { _id: id, status: "processing" },
        { $inc: Object.fromEntries(changes), $set: { updated_at: now } },
      );
      if (matchedCount === 0) await countAfterCancelling(rows, id, now);
    },
  };
};

const added = (member: string, counts: Counts): [string, number][] =>
  Object.entries(counts).flatMap(([key, by]) => (by > 0 ? [[`${member}.${key}`, by]] : []));

/** Pieces of work of a message under way at once are fewer by far. */
const mostBy = 200;

type Rows = Collection<MessageRow>;

const fallingBack = (rows: Rows) => ({
  /** Notes that `count` people are sent to over another channel, and reserves as much for them where there is a limit. */
  fellBack: async (
    { _id, reserved }: Pick<MessageRow, "_id" | "reserved">,
    { step, by, count, at }: { step: number; by: string; count: number; at: Date },
  ): Promise<void> => {
    await rows.updateOne({ _id }, { $min: { [`fell_back.${step}`]: at } });
    if (reserved === null) return;
    const more = { $inc: { "reserved.count": count }, $push: { fell_back_by: { $each: [by], $slice: -mostBy } } };
    await rows.updateOne({ _id, fell_back_by: { $ne: by } }, more);
  },

  /** Keeps the common hour of an optimised message unless it has one; gives what counts. */
  commonHour: async (_id: string, found: number | null): Promise<number | null> => {
    await rows.updateOne({ _id, common_hour: { $exists: false } }, { $set: { common_hour: found } });
    return (await rows.findOne({ _id }, { projection: { common_hour: 1 } }))?.common_hour ?? null;
  },

  /** What is reserved for a message by now. */
  reservedOf: async (id: string): Promise<MessageRow["reserved"]> =>
    (await rows.findOne({ _id: id }, { projection: { reserved: 1 } }))?.reserved ?? null,
});

type ChunkOf = Pick<ChunkRow, "message_id" | "resend_until" | "scheduled_for" | "range_after">;

/** Whether a chunk sends nobody anything: its recipients are put into chunks by when they are due. */
const isSorted = ({ options }: MessageRow, scheduledFor: Date | undefined): boolean =>
  options.delayed_option !== undefined && scheduledFor === undefined;

const dueQueued = (now: Date) => ({
  status: "queued" as const,
  $or: [{ scheduled_for: null }, { scheduled_for: { $lte: now } }],
});

const leasing = (rows: Rows) => ({
  /** Takes a message that is due and still has work. Null when there is none for us now. */
  take: async (id: string, term: LeaseTerm): Promise<MessageRow | null> =>
    (await takeLease(rows, {
      id,
      ...term,
      when: dueQueued(term.now),
      set: { status: "processing", started_at: term.now, updated_at: term.now, counts: zeroCounts() },
    })) ?? (await takeLease(rows, { id, ...term, when: { status: "processing" } })),

  extend: (message: Leased, now: Date, leaseMs: number): Promise<boolean> =>
    extendLease(rows, message, { now, leaseMs }),

  leased: (to: LeasedTo): Promise<MessageRow[]> => leasedTo(rows, to),

  /**
   * Gives the message back; it is looked at again at `dueAt` should no chunk's end call earlier. One that was cancelled
   * meanwhile stays due for what its cancelling left to do.
   */
  rest: (message: Leased, dueAt: Date, left: Left): Promise<boolean> =>
    settle(rows, message, { dueAt, set: leftAs(left), when: isGoingOn }),

  /** The same until its tenant may send again, or until `dueAt`. */
  defer: (message: MessageRow, dueAt: Date, left: Left): Promise<boolean> =>
    settle(rows, message, {
      dueAt,
      set: { ...leftAs(left), suspended_tenant: message.tenant_id },
      when: isGoingOn,
    }),
});

const isGoingOn = { status: "processing" as const };

/** How a turn leaves a message. `isUntouched`: nothing of it was handed to a provider. */
export type Left = { planned: boolean; isUntouched?: boolean };

const leftAs = ({ planned, isUntouched }: Left): Partial<MessageRow> => ({
  planned,
  ...(isUntouched && { waits: true }),
});

type Ended = Leased & Partial<Pick<MessageRow, "options">>;

type Counted = Pick<MessageRow, "counts" | "variant_counts" | "timing_counts" | "effect_counts">;

type End = {
  status: "completed" | "failed";
  error: string | null;
  counts: Counts;
  unsettled?: number;
  at: Date;
} & Pick<MessageRow, "variant_counts" | "timing_counts">;

const ending = (rows: Rows) => ({
  /** Ends the message; `event` waits in its outbox until it is published. */
  finish: async (message: Ended, { at, event, ...end }: End & { event: EventEnvelope }): Promise<boolean> => {
    const isRedacted = message.options?.redact_payload === true;
    const isEnded = await settle(rows, message, {
      dueAt: sweepAfter(at),
      set: {
        ...end,
        planned: true,
        completed_at: at,
        counted_at: at,
        updated_at: at,
        ...(isRedacted && { content: {} }),
      },
      ...(isRedacted && { unset: { email_html: "" } }),
      push: { outbox: event },
      when: { status: "processing" },
    });
    if (!isEnded) await countAfterCancelling(rows, message._id, at);
    return isEnded;
  },

  /**
   * Stores counters that were made anew from all deliveries, unless some moved meanwhile: then they are made once more, at
   * `again`. `unsettled` is what is to be settled now, as at the end of a message.
   */
  recounted: async (
    { _id, updated_at, measured }: Pick<MessageRow, "_id" | "updated_at" | "measured">,
    { at, again, unsettled, ...counted }: Counted & { at: Date; again: Date; unsettled?: number },
  ): Promise<void> => {
    const left = unsettled === undefined ? { due_at: null } : { unsettled, due_at: at };
    const stored = { $set: { ...counted, counted_at: at, updated_at: at, ...left }, $unset: { recount: "" as const } };
    const isSettled = unsettled === undefined ? {} : { unsettled: { $exists: false } };
    const isSame = { updated_at, measured: measured ?? { $exists: false } };
    const { matchedCount } = await rows.updateOne({ _id, recount: true, ...isSame, outbox: [], ...isSettled }, stored);
    if (matchedCount > 0) return;
    if (counted.effect_counts !== undefined)
      await rows.updateOne({ _id }, { $set: { effect_counts: counted.effect_counts } });
    await recountAt(rows, _id, again);
  },

  recountAt: (id: string, at: Date): Promise<void> => recountAt(rows, id, at),

  /** Notes that nothing waits any more of a message that was cancelled. */
  withdrawn: async (id: string): Promise<void> => {
    await rows.updateOne({ _id: id, status: "cancelled" }, [{ $unset: "withdraws" }, { $set: { due_at: whenDone } }]);
  },

  /** Has the next part of it cancelled at `at`. */
  withdrawAgain: async (id: string, at: Date): Promise<void> => {
    await rows.updateOne({ _id: id, withdraws: true }, { $set: { due_at: at } });
  },
});

/** Of a message that was cancelled while a part of it was being sent: that part is counted, too. */
const countAfterCancelling = async (rows: Rows, _id: string, now: Date): Promise<void> => {
  const isForced = { status: "cancelled" as const, "cancelled_by.by_force": true };
  await rows.updateOne({ _id, ...isForced }, { $set: { recount: true, updated_at: now, due_at: now } });
};

const recountAt = async (rows: Rows, _id: string, due_at: Date): Promise<void> => {
  await rows.updateOne({ _id, recount: true }, { $set: { due_at } });
};
