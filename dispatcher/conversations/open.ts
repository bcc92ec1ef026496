import type { Db } from "mongodb";
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
import { sentReplies } from "#core/storage/conversations/sent-replies.ts";
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
import { type ReceiveDeps, receiveMessages } from "./receive.ts";

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

/**
 * What a dispatcher does with messages of people: it puts them into conversations, of apps whose plan has these. False where
 * it has none: then nothing was done.
 */
export const conversations = (
  deps: ConversationsDeps,
): {
  receive: (one: Received) => Promise<boolean>;
  /** Whether an app has conversations. */
  isTaking: (of: OfApp) => Promise<boolean>;
  parts: Part[];
} => {
  const { db, clock } = deps;
  const store = arrivals(db, clock);
  const { publish, parts } = peopleOutbox(deps);
  const receive = receiveMessages({
    arrivals: store,
    contactsOf: sendersOf({ contacts: contacts(db), publish }),
    beginSessions: beginning(sessions(db)),
    answeredBy: answeredBy({
      stored: store.stored,
      deliveries: answerable(db),
      replies: sentReplies(db),
      apply: deps.apply,
    }),
    publish: deps.events.publish,
    clock,
  });
  const touch = touching(deps);
  const write = async (all: readonly Received[]): Promise<boolean[]> => {
    const byApp = [...Map.groupBy(all, ({ of }) => of.appId)];
    const taken = byApp.map(
      async ([appId, some]) => [appId, await receiveOfApp({ ...deps, receive, touch }, some)] as const,
    );
    const isTaken = new Map(await Promise.all(taken));
    return all.map(({ of }) => isTaken.get(of.appId) === true);
  };
  const gathered = gather({ write: toldAgain(write), ...batched, isOfOne });
  return {
    receive: async (one) => one.arrivals.length > 0 && gathered(one),
    isTaking: async (of) => (await rulesOf(deps.directory, of)) !== null,
    parts,
  };
};

/** What failed together is tried apart: some of it may be stored by then and not told, and is told again. */
export const toldAgain =
  <T>(write: (all: readonly Received[]) => Promise<T>) =>
  async (all: readonly Received[]): Promise<T> => {
    try {
      return await write(all);
    } catch (error) {
      for (const one of all) one.isRepeated = true;
      throw error;
    }
  };

type ReceiveOfApp = Pick<ConversationsDeps, "directory"> & {
  receive: ReturnType<typeof receiveMessages>;
  touch: (of: OfApp) => void;
};

const receiveOfApp = async (deps: ReceiveOfApp, some: readonly Received[]): Promise<boolean> => {
  const [first] = some;
  const rules = first === undefined ? null : await rulesOf(deps.directory, first.of);
  if (first === undefined || rules === null) return false;
  const arrived = some.flatMap(({ arrivals: of }) => of);
  await deps.receive(first.of, arrived, { isRepeated: some.some(({ isRepeated }) => isRepeated), rules });
  deps.touch(first.of);
  return true;
};

/** Sessions of people on WhatsApp, as the app has it of advertisements. */
const beginning =
  ({ begin }: Pick<Sessions, "begin">): ReceiveDeps["beginSessions"] =>
  (of, arrivals, { now, rules }) => {
    const wrote = arrivals.flatMap(({ channel, contact, message: { at, isFromAd } }) =>
      channel === "whatsapp" ? [{ subscriptionId: contact._id, at, isFromAd: isFromAd && rules.ad_session }] : [],
    );
    return begin(of, wrote, now);
  };

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
