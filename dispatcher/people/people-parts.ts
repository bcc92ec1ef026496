import type { Db } from "mongodb";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { type Outbox, type OutboxDeps, outbox, type WithOutbox } from "#core/queue/outbox.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { contacts, mayBeOwnerless } from "#core/storage/people/contacts.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { type UserRow, userCollection, users } from "#core/storage/people/users.ts";
import { publishChanges } from "./outbox.ts";

export type PeoplePartsDeps = {
  db: Db;
  events: EventPublisher;
  log: Log;
  metrics: QueueMetrics;
};

/** What a dispatcher runs for users and subscriptions: it publishes their events. */
export const peopleParts = (deps: PeoplePartsDeps): { parts: Part[]; timers: AnyTimerSource[] } => {
  const events = gatheredEvents(deps.events);
  const [people, devices] = [users(deps.db), subscriptions(deps.db)];
  const userRows = collectionOf<UserRow>(deps.db, userCollection);
  const subscriptionRows = collectionOf<SubscriptionRow>(deps.db, subscriptionCollection);
  const box = <Row extends WithOutbox>(of: Pick<OutboxDeps<Row>, "rows" | "done">): Outbox =>
    outbox<Row>({ ...of, events, log: deps.log, metrics: deps.metrics });
  const ofUsers = box<UserRow>({ rows: userRows, done: { changed: { $size: 0 } } });
  const ofSubscriptions = box<SubscriptionRow>({ rows: subscriptionRows, done: { lease: null } });
  const tell = publishChanges({ users: people, subscriptions: devices, events });
  return {
    parts: [ofUsers, ofSubscriptions],
    timers: [
      timerSource({
        name: "users",
        collection: userRows,
        select: userMembers,
        everyMs: leftOverMs,
        handle: async (row) => {
          if (mayBeOwnerless(row) && (await contacts(deps.db).dropOwnerless(row))) return;
          if ((await ofUsers.flushDue(row)) && row.changed.length > 0) await tell(row);
        },
      }),
      timerSource({
        name: "subscriptions",
        collection: subscriptionRows,
        select: ["tenant_id", "outbox"],
        everyMs: leftOverMs,
        handle: ofSubscriptions.flushDue,
      }),
    ],
  };
};

const leftOverMs = 1_000; // whoever changes somebody publishes it themselves, unless they are killed

/** What `user.updated` tells. */
const userMembers = [
  "tenant_id",
  "app_id",
  "external_id",
  "aliases",
  "tags",
  "properties",
  "language",
  "time_zone",
  "country",
  "location",
  "amount_spent",
  "session_count",
  "session_time",
  "first_seen_at",
  "last_active_at",
  "created_at",
  "updated_at",
  "outbox",
  "changed",
  "revision",
  "of_contact",
] as const satisfies readonly (keyof UserRow)[];
