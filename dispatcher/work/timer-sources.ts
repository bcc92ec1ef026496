import type { Db } from "mongodb";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Hints } from "./hints.ts";

export type TimerSourcesDeps = {
  db: Db;
  hints: Hints;
  flush: (message: Pick<MessageRow, "_id" | "tenant_id" | "outbox" | "traceparent">) => Promise<unknown>;
};

/** Messages (also those with unpublished events) and chunks: their hints are published when they are due. */
export const timerSources = ({ db, hints, flush }: TimerSourcesDeps): AnyTimerSource[] => [
  timerSource<MessageRow>({
    name: "messages",
    collection: collectionOf<MessageRow>(db, messageCollection),
    select: ["status", "plan", "tenant_id", "outbox", "traceparent"],
    handle: async (row) => {
      await flush(row);
      if (row.status === "queued" || row.status === "processing") {
        await hints.message({ ...row, message_id: row._id }, causeOf(row));
      }
    },
  }),
  timerSource<ChunkRow>({
    name: "chunks",
    collection: collectionOf<ChunkRow>(db, chunkCollection),
    select: ["plan", "tenant_id"],
    handle: (row) => hints.chunk(row, causeOf(row)),
  }),
];

/** Of each due time one hint is published, however many processes see it. */
const causeOf = ({ due_at }: { due_at: Date | null }): string => `due:${due_at?.getTime()}`;
