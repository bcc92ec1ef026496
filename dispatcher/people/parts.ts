import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { type Outbox, type OutboxDeps, outbox, type WithOutbox } from "#core/queue/outbox.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { apps } from "#core/storage/apps/apps.ts";
import { storedData } from "#core/storage/data.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { type UserRow, users } from "#core/storage/people/users.ts";
import { webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, removals } from "#core/storage/work/removals.ts";
import { finishRemoval } from "../jobs/removals.ts";
import { publishChanges } from "./outbox.ts";

export type PeoplePartsDeps = {
  db: Db;
  events: EventPublisher;
  /** Unique to this process. */
  holder: string;
  clock: Clock;
  log: Log;
  metrics: QueueMetrics;
};

/** What a dispatcher runs for users and subscriptions: it publishes their events and finishes their removal. */
export const peopleParts = (deps: PeoplePartsDeps): { parts: Part[]; timers: AnyTimerSource[] } => {
  const events = gatheredEvents(deps.events);
  const [people, devices, gone] = [users(deps.db), subscriptions(deps.db), removals(deps.db)];
  const box = <Row extends WithOutbox>(of: Pick<OutboxDeps<Row>, "rows" | "done">): Outbox =>
    outbox<Row>({ ...of, events, log: deps.log, metrics: deps.metrics });
  const ofUsers = box<UserRow>({ rows: people.rows, done: { changed: { $size: 0 } } });
  const ofSubscriptions = box<SubscriptionRow>({ rows: devices.rows, done: { lease: null } });
  const ofRemovals = box<RemovalRow>({ rows: gone.rows, done: never });
  const tell = publishChanges({ users: people, subscriptions: devices, events });
  const finish = finishRemoval({
    ...deps,
    removals: gone,
    subscriptions: devices,
    apps: apps(deps.db),
    webhooks: webhookWork(deps.db),
    data: storedData(deps.db),
    flush: ofRemovals.flush,
  });
  return {
    parts: [ofUsers, ofSubscriptions, ofRemovals],
    timers: [
      timerSource<UserRow>({
        name: "users",
        collection: people.rows,
        select: userMembers,
        handle: async (row) => {
          if ((await ofUsers.flush(row)) && row.changed.length > 0) await tell(row);
        },
      }),
      timerSource<SubscriptionRow>({
        name: "subscriptions",
        collection: devices.rows,
        select: ["tenant_id", "outbox"],
        handle: ofSubscriptions.flush,
      }),
      timerSource<RemovalRow>({
        name: "removals",
        collection: gone.rows,
        select: [],
        handle: ({ _id }, signal) => finish(_id, signal),
      }),
    ],
  };
};

/** A removal sets its own `due_at`. */
const never = { due_at: null };

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
  "first_seen_at",
  "last_active_at",
  "created_at",
  "updated_at",
  "outbox",
  "changed",
  "revision",
] as const satisfies readonly (keyof UserRow)[];
