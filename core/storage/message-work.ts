import type { Db } from "mongodb";
import type { EventEnvelope } from "../schema/event.ts";
import { collectionOf } from "./collection.ts";
import { settle, takeLease } from "./leases.ts";
import { type Counts, countKeys, type MessageRow, messageCollection } from "./messages.ts";

export type MessageWork = ReturnType<typeof messageWork>;

type Hold = { holder: string; now: Date; holdMs: number };
type Held = Pick<MessageRow, "_id" | "fence">;

/** What a dispatcher does to messages; every write names the fence of the lease it was made under. */
export const messageWork = (db: Db) => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  return {
    rows,

    /** Takes a message that is due and still has work. Null when there is none for us now. */
    take: async (id: string, hold: Hold): Promise<MessageRow | null> =>
      (await takeLease(rows, {
        id,
        ...hold,
        when: { status: "queued", $or: [{ scheduled_for: null }, { scheduled_for: { $lte: hold.now } }] },
        set: { status: "processing", started_at: hold.now, updated_at: hold.now, counts: zeroCounts() },
      })) ?? (await takeLease(rows, { id, ...hold, when: { status: "processing" } })),

    /** What a message says, for sending its chunks; null when it was cancelled or has ended. */
    content: (id: string): Promise<MessageRow | null> => rows.findOne({ _id: id, status: "processing" }),

    /** Whether the message still needs a turn: a hint of one that ended, or waits for its time, is stale. */
    needsTurn: async (id: string, now: Date): Promise<boolean> =>
      (await rows.countDocuments(
        {
          _id: id,
          $or: [
            { status: "processing" },
            { status: "queued", scheduled_for: null },
            { status: "queued", scheduled_for: { $lte: now } },
          ],
        },
        { limit: 1 },
      )) > 0,

    /** Gives the message back; it is looked at again at `dueAt` should no chunk's end call earlier. */
    rest: (held: Held, dueAt: Date, planned: boolean): Promise<boolean> =>
      settle(rows, { id: held._id, fence: held.fence, dueAt, set: { planned } }),

    /** Ends the message; `event` waits in its outbox until it is published, and so does `dueAt`. */
    finish: (
      held: Held,
      end: {
        status: "completed" | "failed";
        error: string | null;
        counts: Counts;
        at: Date;
        event: EventEnvelope;
        dueAt: Date;
      },
    ): Promise<boolean> =>
      settle(rows, {
        id: held._id,
        fence: held.fence,
        dueAt: end.dueAt,
        set: {
          status: end.status,
          error: end.error,
          counts: end.counts,
          planned: true,
          completed_at: end.at,
          updated_at: end.at,
        },
        push: { outbox: end.event },
      }),

    /** Counts what was newly stored: for people who watch; the truth is rebuilt when the message ends. */
    count: async (id: string, counts: Counts, now: Date): Promise<void> => {
      const changes = Object.entries(counts).filter(([, by]) => by > 0);
      if (changes.length === 0) return;
      await rows.updateOne(
        { _id: id, status: "processing" },
        { $inc: Object.fromEntries(changes.map(([key, by]) => [`counts.${key}`, by])), $set: { updated_at: now } },
      );
    },
  };
};

const zeroCounts = (): Counts => Object.fromEntries(countKeys.map((key) => [key, 0]));
