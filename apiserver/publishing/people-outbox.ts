import type { Db } from "mongodb";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { type Outbox, type OutboxDeps, outbox, type WithOutbox } from "#core/queue/outbox.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type RemovalRow, removalCollection } from "#core/storage/work/removals.ts";
import { background } from "./background.ts";

export type PeopleOutboxDeps = { db: Db; events: EventPublisher; log: Log; metrics: QueueMetrics };

export type PeopleOutbox = ReturnType<typeof peopleOutbox>;

const mostAtOnce = 2_000; // documents whose events are under way; beyond that the timers publish

/**
 * Publishes the events of users and subscriptions right after they are written. No reply waits for it: what is not
 * published now is due again in 10 s, and the dispatchers publish it.
 */
export const peopleOutbox = ({ db, ...deps }: PeopleOutboxDeps) => {
  const events = gatheredEvents(deps.events);
  const box = <Row extends WithOutbox>(of: Pick<OutboxDeps<Row>, "rows" | "done">) =>
    outbox<Row>({ ...deps, ...of, events });
  const ofUsers = box<UserRow>({ rows: collectionOf<UserRow>(db, userCollection), done: { changed: { $size: 0 } } });
  const ofSubscriptions = box<SubscriptionRow>({
    rows: collectionOf<SubscriptionRow>(db, subscriptionCollection),
    done: { lease: null },
  });
  const ofRemovals = box<RemovalRow>({ rows: collectionOf<RemovalRow>(db, removalCollection), done: { due_at: null } }); // it says itself when it is due
  const boxes = [ofUsers, ofSubscriptions, ofRemovals];
  const publishing = background({ most: mostAtOnce });

  const flush = async (to: Outbox, row: Parameters<Outbox["flush"]>[0]): Promise<void> => {
    await to.flush(row).catch((err: unknown) => deps.log.error({ err, document: row._id }, "outbox.failed"));
  };
  const begin = (to: Outbox) => (row: Parameters<Outbox["flush"]>[0]) => {
    if (row.outbox.length > 0) publishing.begin(() => flush(to, row));
  };
  const publishLast = begin(ofSubscriptions);
  return {
    name: "outbox of users and subscriptions",
    user: begin(ofUsers),
    /** Only the last event of a subscription, which was just written: those before are under way, or due. */
    subscription: (row: SubscriptionRow): void => publishLast({ ...row, outbox: row.outbox.slice(-1) }),
    removal: begin(ofRemovals),
    start: () => Promise.resolve(),
    stop: async (signal: AbortSignal): Promise<void> => {
      await publishing.ended();
      await Promise.all(boxes.map((one) => one.stop(signal)));
    },
  };
};
