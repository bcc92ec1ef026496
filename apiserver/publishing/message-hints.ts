import { Unavailable } from "#core/errors.ts";
import type { Announcer } from "#core/queue/announce.ts";
import { announceUses } from "#core/queue/announce-uses.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { background } from "./background.ts";

export type MessageHintsDeps = {
  publisher: Publisher;
  announcer: Pick<Announcer, "changed">;
  subjects: Pick<Subjects, "plan">;
  /** Publishes the message's events and empties its outbox. */
  flush: (row: MessageRow) => Promise<void>;
  log: Log;
};

export type MessageHints = { message: (row: MessageRow) => void };

const mostAtOnce = 2_000; // beyond that, JetStream is not keeping up and the timers publish the hints

/**
 * Publishes a hint to the dispatchers that a message is due, and the message's events, while the reply goes out: neither
 * is needed for anything but speed, since the document is due again in 10 s.
 */
export const messageHints = ({ publisher, announcer, subjects, flush, log }: MessageHintsDeps): Part & MessageHints => {
  const publishing = background({ most: mostAtOnce });
  let isAway = false;

  const publish = async (row: MessageRow): Promise<void> => {
    const hint = { id: `${row._id}:accept`, traceparent: row.traceparent };
    const results = await Promise.allSettled([
      row.scheduled_for === null
        ? publisher.publish(subjects.plan(row.plan, row.tenant_id), { message_id: row._id }, hint)
        : "published",
      flush(row),
    ]);
    const failed = results.find((result) => result.status === "rejected");
    const err: unknown = failed?.reason;
    if (failed !== undefined && !(err instanceof Unavailable))
      log.error({ err, message: row._id }, "message_hint.failed");
    else if (failed !== undefined && !isAway) log.warn({ err }, "jetstream.away"); // once, until it is back
    isAway = failed !== undefined;
  };

  return {
    name: "message hints",
    message: (row) => {
      if (row.scheduled_for !== null) announceUses(announcer, row);
      publishing.begin(() => publish(row));
    },
    start: () => Promise.resolve(),
    stop: publishing.ended,
  };
};
