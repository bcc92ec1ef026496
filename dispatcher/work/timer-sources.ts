import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import type { Settling } from "#core/storage/messages/settlement.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Recounted } from "../messages/recount.ts";
import type { Hints } from "./hints.ts";

export type TimerSourcesDeps = {
  db: Db;
  hints: Hints;
  /** Gives back what a message that has ended did not use, and charges what it used beyond that. */
  settle: (message: Settling, now: Date) => Promise<void>;
  /** Makes the counters of a message that has ended anew. */
  recount: (message: Recounted) => Promise<void>;
  /** Cancels what waits of a message that was cancelled. */
  withdraw: (message: Pick<MessageRow, "_id">) => Promise<void>;
  flush: (message: Pick<MessageRow, "_id" | "tenant_id" | "outbox" | "traceparent">) => Promise<unknown>;
  clock: Clock;
};

/** Messages (also those with unpublished events, or counters that may be wrong) and chunks: their hints are published when they are due. */
export const timerSources = ({ db, hints, ...deps }: TimerSourcesDeps): AnyTimerSource[] => [
  timerSource({
    name: "messages",
    collection: collectionOf<MessageRow>(db, messageCollection),
    select: dueMembers,
    handle: messageDue({ hints, ...deps }),
  }),
  timerSource({
    name: "chunks",
    collection: collectionOf<ChunkRow>(db, chunkCollection),
    select: ["plan", "tenant_id"],
    handle: (row) => hints.chunk(row, causeOf(row)),
  }),
];

/** What of a message is read when it is due. */
const dueMembers = [
  "status",
  "plan",
  "tenant_id",
  "outbox",
  "traceparent",
  "reserved",
  "unsettled",
  "recount",
  "withdraws",
  "updated_at",
  "counts",
  "counted_at",
  "measured",
  "completed_at",
  "options",
  "variants",
] as const;

/** What is looked at when a message is due; the source has to read each of these. */
type DueMessage = Settling &
  Recounted &
  Parameters<TimerSourcesDeps["withdraw"]>[0] &
  Parameters<TimerSourcesDeps["flush"]>[0] &
  Pick<MessageRow, "due_at" | "status" | "plan" | "recount" | "withdraws">;

/** What is done with a message that is due: what its end left undone, or its next turn. */
export const messageDue =
  ({ hints, settle, flush, recount, withdraw, clock }: Omit<TimerSourcesDeps, "db">) =>
  async (row: DueMessage): Promise<void> => {
    await settle(row, clock.now());
    await flush(row);
    if (row.recount === true) await recount(row);
    if (row.withdraws === true) await withdraw(row);
    if (row.status === "queued" || row.status === "processing") {
      await hints.message({ ...row, message_id: row._id }, causeOf(row));
    }
  };

/** Of each due time one hint is published, however many processes see it. */
const causeOf = ({ due_at }: { due_at: Date | null }): string => `due:${due_at?.getTime()}`;
