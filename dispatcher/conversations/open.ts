import type { Db } from "mongodb";
import type { Inbound } from "#core/channels/kit/inbound.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { ConversationRules } from "#core/domain/conversations/receive.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import { outbox, type WithOutbox } from "#core/queue/outbox.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { arrivals } from "#core/storage/conversations/arrivals.ts";
import { touching } from "#core/storage/conversations/touching.ts";
import type { Directory } from "#core/storage/directory.ts";
import { answerable } from "#core/storage/messages/answered.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { contacts, type NewContact } from "#core/storage/people/contacts.ts";
import { type Sessions, sessions } from "#core/storage/people/sessions.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { answeredBy } from "./answered.ts";
import type { Arrival } from "./arrival.ts";
import { sendersOf } from "./contacts.ts";
import { receiveMessages } from "./receive.ts";

export type ConversationsDeps = {
  db: Db;
  directory: Pick<Directory, "app" | "tenant" | "plan">;
  events: EventPublisher;
  /** Applies receipts of an app's deliveries. May be done twice. */
  apply: (of: OfApp, receipts: readonly Receipt[]) => Promise<unknown>;
  metrics: QueueMetrics;
  log: Log;
  clock: Clock;
};

/** Messages of people of one app that came in one message of the queue. */
export type Received = {
  of: OfApp;
  arrivals: readonly Arrival[];
  /** Whether they may have been received in part before. */
  isRepeated: boolean;
};

const batched = { most: 16, inFlight: 1 }; // who writes at the same moment writes to the same conversations

/** What a dispatcher does with messages of people: it puts them into conversations, of apps whose plan has these. */
export const conversations = (
  deps: ConversationsDeps,
): { receive: (one: Received) => Promise<void>; parts: Part[] } => {
  const { db, clock } = deps;
  const store = arrivals(db, clock);
  const { publish, parts } = peopleOutbox(deps);
  const receive = receiveMessages({
    arrivals: store,
    contactsOf: sendersOf({ contacts: contacts(db), publish }),
    answeredBy: answeredBy({ named: store.named, deliveries: answerable(db), apply: deps.apply }),
    publish: deps.events.publish,
    clock,
  });
  const touch = touching(deps);
  const { fromAd } = sessions(db);
  const write = async (all: readonly Received[]): Promise<undefined[]> => {
    const byApp = [...Map.groupBy(all, ({ of }) => of.appId)];
    await Promise.all(byApp.map(([, some]) => receiveOfApp({ ...deps, receive, touch, fromAd }, some)));
    return all.map(() => undefined);
  };
  const gathered = gather({ write, ...batched, isOfOne });
  return {
    receive: async (one) => {
      if (one.arrivals.length > 0) await gathered(one);
    },
    parts,
  };
};

type ReceiveOfApp = Pick<ConversationsDeps, "directory"> & {
  receive: ReturnType<typeof receiveMessages>;
  /** An advertisement led to these messages. */
  fromAd: Sessions["fromAd"];
  touch: (of: OfApp) => void;
  clock: Clock;
};

const receiveOfApp = async (deps: ReceiveOfApp, some: readonly Received[]): Promise<void> => {
  const [first] = some;
  const rules = first === undefined ? null : await rulesOf(deps.directory, first.of);
  if (first === undefined || rules === null) return;
  const arrived = some.flatMap(({ arrivals: of }) => of);
  await deps.receive(first.of, arrived, { isRepeated: some.some(({ isRepeated }) => isRepeated), rules });
  if (rules.ad_session) await deps.fromAd(first.of, arrived.flatMap(ledByAd), deps.clock.now());
  deps.touch(first.of);
};

const ledByAd = ({ channel, message }: Arrival): Inbound[] =>
  channel === "whatsapp" && message.isFromAd ? [message] : [];

/** How conversations of an app begin and end; null when it is gone, or its plan has none. */
const rulesOf = async (
  { app, tenant, plan }: ConversationsDeps["directory"],
  { tenantId, appId }: OfApp,
): Promise<ConversationRules | null> => {
  const [found, owner] = await Promise.all([app(appId), tenant(tenantId)]);
  if (found === null || owner === null) return null;
  const isInPlan = (await plan(owner.plan))?.features.includes("conversations") ?? false;
  return isInPlan ? settingsOf(found).conversations : null;
};

/** Publishes the events of people who were made, without being waited for: what is not published is due again. */
const peopleOutbox = ({ db, events, log, metrics }: ConversationsDeps) => {
  const shared = { events: gatheredEvents(events), log, metrics };
  const ofUsers = outbox<UserRow>({
    ...shared,
    rows: collectionOf<UserRow>(db, userCollection),
    done: { changed: { $size: 0 } },
  });
  const ofSubscriptions = outbox<SubscriptionRow>({
    ...shared,
    rows: collectionOf<SubscriptionRow>(db, subscriptionCollection),
    done: { lease: null },
  });
  const flush = (to: typeof ofUsers, row: Pick<WithOutbox, "_id" | "tenant_id" | "outbox">): void => {
    to.flush(row).catch((err: unknown) => log.error({ err, document: row._id }, "outbox.failed"));
  };
  const publish = (made: readonly NewContact[]): void => {
    for (const { user, subscriptions } of made) {
      if (user !== null) flush(ofUsers, user);
      for (const row of subscriptions) flush(ofSubscriptions, row);
    }
  };
  return { publish, parts: [ofUsers, ofSubscriptions] };
};
