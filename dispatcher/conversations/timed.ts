import type { Db } from "mongodb";
import type { Registry } from "prom-client";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { changeEvent } from "#core/domain/conversations/events.ts";
import { dueChange, nextLook } from "#core/domain/conversations/timing.ts";
import { type EventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { type Outbox, outbox } from "#core/queue/outbox.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { watchWaiting } from "#core/runtime/metrics/dispatcher.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type Conversations, conversations } from "#core/storage/conversations/conversations.ts";
import { touching } from "#core/storage/conversations/touching.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf, type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { findIds } from "#core/storage/mongo/pages.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { countingTimer } from "./counting.ts";
import { failUnsent } from "./unsent.ts";
import { waitingConversations } from "./waiting.ts";

export type TimedDeps = {
  db: Db;
  directory: Pick<Directory, "app">;
  events: EventPublisher;
  log: Log;
  metrics: QueueMetrics;
  registry: Registry;
  clock: Clock;
};

/** What time does to conversations: a snooze ends, one without a change is closed, and events that wait are published. */
export const timedConversations = (deps: TimedDeps): { parts: Part[]; timers: AnyTimerSource[] } => {
  const rows = collectionOf<ConversationRow>(deps.db, conversationCollection);
  const box = outbox<ConversationRow>({
    rows,
    done: { status: "closed" },
    events: gatheredEvents(deps.events),
    log: deps.log,
    metrics: deps.metrics,
  });
  const touch = touching(deps);
  const waiting = waitingConversations();
  watchWaiting(deps.registry, waiting);
  const store = conversations(deps.db, deps.clock);
  const fail = failUnsent({ store, accepted: acceptedOf(deps.db), clock: deps.clock });
  const change = changeInTime({ ...deps, store, box, touch, failUnsent: fail });
  return {
    parts: [box],
    timers: [
      timerSource({
        name: "conversations",
        collection: rows,
        select: ["tenant_id", "app_id", "outbox"],
        everyMs: 1_000,
        handle: change,
      }),
      countingTimer({ ...deps, waiting }),
    ],
  };
};

/** Those of some notifications that there are. */
const acceptedOf = (db: Db) => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  return async (ids: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set(await findIds(rows, { _id: { $in: [...ids] } }));
};

export type ChangeInTimeDeps = Pick<TimedDeps, "directory" | "clock"> & {
  store: Pick<Conversations, "find" | "put" | "lookAgain">;
  /** Has replies fail that were never accepted. */
  failUnsent: ReturnType<typeof failUnsent>;
  box: Pick<Outbox, "flush" | "flushDue">;
  /** Has the conversations of an app counted, without being waited for. */
  touch: (of: OfApp) => void;
};

type DueConversation = Pick<ConversationRow, "_id" | "tenant_id" | "app_id" | "outbox">;

/**
 * Does what is due of a conversation. May be done twice, and beside others who change it: what they do stands, and it is looked
 * at again.
 * @throws Unavailable when the stream of events is away
 */
export const changeInTime =
  ({ directory, clock, store, box, touch, failUnsent: fail }: ChangeInTimeDeps) =>
  async (due: DueConversation): Promise<void> => {
    if (due.outbox.length > 0) {
      const found = await store.find(ofRow(due), due._id); // its events wait since whoever made them was cut off
      const { isEarly, row } = found === null ? { isEarly: false, row: due } : await fail(found);
      return isEarly ? undefined : void (await box.flushDue(row)); // due again in 10 s
    }
    const [read, app] = await Promise.all([store.find(ofRow(due), due._id), directory.app(due.app_id)]);
    if (read === null || app === null) return;
    const rules = settingsOf(app).conversations;
    const now = clock.now();
    const changed = dueChange(read, rules, now);
    if (changed === null) return store.lookAgain(read, nextLook(read, rules, now));
    const plain = { ...read, ...changed, seq: read.seq + 1, uncounted_at: now, updated_at: now };
    const event = changeEvent(read, plain, "timer");
    const outbox = event === null ? read.outbox : [...read.outbox, event]; // one may have come since it was found due
    const after = { ...plain, outbox, due_at: sweepAfter(now) };
    if (!(await store.put(read, after))) return;
    touch(ofRow(read));
    await box.flush(after);
  };
