import type { Db } from "mongodb";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { outbox } from "#core/queue/outbox.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { background } from "./background.ts";

export type ConversationOutboxDeps = { db: Db; events: EventPublisher; log: Log; metrics: QueueMetrics };

export type ConversationOutbox = ReturnType<typeof conversationOutbox>;

const mostAtOnce = 1_000; // documents whose events are under way; beyond that the timers publish

/** Publishes the events of conversations right after they are changed: no reply waits for it, and what fails is due again. */
export const conversationOutbox = ({ db, events, log, metrics }: ConversationOutboxDeps) => {
  const box = outbox<ConversationRow>({
    rows: collectionOf<ConversationRow>(db, conversationCollection),
    done: { status: "closed" }, // others are looked at again: time may change them
    events: gatheredEvents(events),
    log,
    metrics,
  });
  const publishing = background({ most: mostAtOnce });
  const flush = async (row: ConversationRow): Promise<void> => {
    await box.flush(row).catch((err: unknown) => log.error({ err, document: row._id }, "outbox.failed"));
  };
  return {
    name: "outbox of conversations",
    /** Only the last event of a conversation: those before are under way, or due. */
    publish: (row: ConversationRow): void => {
      if (row.outbox.length > 0) publishing.begin(() => flush({ ...row, outbox: row.outbox.slice(-1) }));
    },
    start: () => Promise.resolve(),
    stop: async (signal: AbortSignal): Promise<void> => {
      await publishing.ended();
      await box.stop(signal);
    },
  };
};
