import type { Db } from "mongodb";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Settlement } from "#core/queue/worker.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics-dispatcher.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import { audience } from "#core/storage/audience.ts";
import { chunks } from "#core/storage/chunks.ts";
import { deliveries } from "#core/storage/deliveries.ts";
import type { Directory } from "#core/storage/directory.ts";
import { invalidated } from "#core/storage/invalidated.ts";
import { messageEventData } from "#core/storage/message-view.ts";
import { messageWork } from "#core/storage/message-work.ts";
import type { MessageRow } from "#core/storage/messages.ts";
import { usage } from "#core/storage/usage.ts";
import { advance } from "./advance.ts";
import { runChunk } from "./chunk.ts";
import { type CompleteDeps, complete, fail } from "./complete.ts";
import { deliver } from "./deliver.ts";
import { followUp } from "./follow-up.ts";
import { holdMs } from "./hold.ts";
import { plan } from "./plan.ts";
import { recorder } from "./record.ts";
import type { Senders } from "./senders.ts";
import type { Window } from "./window.ts";

export type PipelineDeps = {
  db: Db;
  directory: Directory;
  senders: Senders;
  window: Window;
  subjects: Subjects;
  /** Publishes a hint; one that JetStream refuses is rung again by the timer. */
  hint: (subject: string, body: object, id: string) => Promise<void>;
  publishEvents: (events: readonly EventEnvelope[]) => Promise<boolean>;
  flushOutbox: (message: Pick<MessageRow, "_id" | "outbox">) => Promise<void>;
  /** Unique to this process. */
  holder: string;
  openChunks: number;
  stopping: AbortSignal;
  metrics: DispatcherMetrics;
  clock: Clock;
  random: Random;
};

/** The two steps of a notification, joined to their stores: what the workers of `plan` and `deliver` call. */
export type Pipeline = {
  plan: (messageId: string) => Promise<Settlement>;
  deliver: (chunkId: string) => Promise<Settlement>;
};

/** Joins the dispatcher's decisions to MongoDB, JetStream and the providers. */
export const pipeline = (deps: PipelineDeps): Pipeline => {
  const { clock, directory, stopping } = deps;
  const messages = messageWork(deps.db);
  const send = sending(deps);
  const hold = (now: Date) => ({ holder: deps.holder, now, holdMs });
  const move = advance({
    ...send,
    page: send.audience.page,
    resolve: send.audience.resolve,
    ring: (chunk) =>
      deps.hint(deps.subjects.deliver(chunk.plan, chunk.tenant_id), { chunk_id: chunk._id }, `${chunk._id}:first`),
    openChunks: deps.openChunks,
    clock,
  });
  const ends = ending(deps);
  return {
    plan: plan({
      take: (id, now) => messages.take(id, hold(now)),
      extend: (message, now) => messages.extend(message, now, holdMs),
      needsTurn: messages.needsTurn,
      app: directory.app,
      tenant: directory.tenant,
      advance: move,
      rest: messages.rest,
      complete: complete(ends),
      fail: fail(ends),
      stopping,
      clock,
    }),
    deliver: runChunk({
      take: (id, now) => send.chunks.take(id, hold(now)),
      extend: (chunk, now) => send.chunks.extend(chunk, now, holdMs),
      end: send.chunks.end,
      giveBack: send.chunks.giveBack,
      recipientsOfRetries: send.chunks.recipientsOfRetries,
      message: messages.content,
      app: directory.app,
      deliver: send.deliver,
      followUp: send.followUp,
      ring: ({ plan: tier, tenant_id, message_id }, cause) =>
        deps.hint(deps.subjects.plan(tier, tenant_id), { message_id }, cause),
      stopping,
      clock,
    }),
  };
};

/** Sending and what follows from it: the same for a queued chunk and for a small message in its first turn. */
const sending = (deps: PipelineDeps) => {
  const people = audience(deps.db);
  const stored = deliveries(deps.db);
  return {
    audience: people,
    chunks: chunks(deps.db),
    deliver: deliver({
      load: people.load,
      existing: stored.existing,
      record: recorder({ store: stored.record, writers: 3 }).record, // 3: one gathers, one travels, one is written
      sender: deps.senders.of,
      slot: deps.window.slot,
      clock: deps.clock,
      random: deps.random,
    }),
    followUp: followUp({
      keepChunks: chunks(deps.db).keep,
      invalidate: invalidated(deps.db),
      publish: deps.publishEvents,
      count: messageWork(deps.db).count,
      clock: deps.clock,
    }),
  };
};

const ending = (deps: PipelineDeps): CompleteDeps => ({
  tally: deliveries(deps.db).tally,
  finish: async (message, end) => {
    const isOurs = await messageWork(deps.db).finish(message, end);
    if (isOurs) deps.metrics.messagesEnded.inc({ status: end.status });
    return isOurs;
  },
  flush: deps.flushOutbox,
  settleQuota: async ({ tenant_id, reserved }, sent) => {
    if (reserved !== null) await usage(deps.db).giveBack(tenant_id, reserved.month, reserved.count - sent);
  },
  describe: messageEventData,
  clock: deps.clock,
});
