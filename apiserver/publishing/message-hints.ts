import { Unavailable } from "#core/errors.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";

export type RingDeps = {
  publisher: Publisher;
  subjects: Pick<Subjects, "plan">;
  /** Publishes the message's events and empties its outbox. */
  flush: (row: MessageRow) => Promise<void>;
  log: Log;
};

const mostAtOnce = 2_000; // rings under way; beyond that, JetStream is not keeping up and the timers ring

/**
 * Tells the dispatchers of a message that is due, and publishes its events, without holding up the reply: neither is
 * needed for anything but speed, since the document is due again in 10 s.
 */
export const ring = ({ publisher, subjects, flush, log }: RingDeps): Part & { message: (row: MessageRow) => void } => {
  const underWay = new Set<Promise<unknown>>();
  let isQuiet = true;

  const tell = async (row: MessageRow): Promise<void> => {
    const hint = { id: `${row._id}:accept`, traceparent: row.traceparent };
    const results = await Promise.allSettled([
      row.scheduled_for === null
        ? publisher.publish(subjects.plan(row.plan, row.tenant_id), { message_id: row._id }, hint)
        : "published",
      flush(row),
    ]);
    const failed = results.find((result) => result.status === "rejected");
    const err: unknown = failed?.reason;
    if (failed !== undefined && !(err instanceof Unavailable)) log.error({ err, message: row._id }, "ring.failed");
    else if (failed !== undefined && isQuiet) log.warn({ err }, "jetstream.away"); // once, until it is back
    isQuiet = failed === undefined;
  };

  return {
    name: "ring",
    message: (row) => {
      if (underWay.size >= mostAtOnce) return;
      const telling = tell(row).finally(() => underWay.delete(telling));
      underWay.add(telling);
    },
    start: () => Promise.resolve(),
    stop: async () => void (await Promise.allSettled(underWay)),
  };
};
