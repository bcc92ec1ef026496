import type { Db } from "mongodb";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Directory } from "#core/storage/directory.ts";
import { audience } from "#core/storage/messages/audience.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveries } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { messageEventData } from "#core/storage/messages/view.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { invalidated } from "#core/storage/people/invalidated.ts";
import { languages } from "#core/storage/people/languages.ts";
import type { Senders } from "../channels/registry.ts";
import type { Hints } from "../work/hints.ts";
import { leaseMs } from "../work/lease.ts";
import { repeatWrite } from "../work/repeat-write.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { runChunk } from "./chunk.ts";
import { deliver } from "./deliver.ts";
import { type CompleteDeps, complete, fail } from "./finish.ts";
import { countsOf, followUp } from "./follow-up.ts";
import { plan } from "./plan.ts";
import { recorder } from "./record.ts";
import { advance } from "./turn.ts";
import type { Window } from "./window.ts";

export type PipelineDeps = {
  db: Db;
  directory: Directory;
  senders: Senders;
  suspensions: Suspensions;
  window: Window;
  hints: Hints;
  publishEvents: EventPublisher["publish"];
  flushOutbox: (message: Pick<MessageRow, "_id" | "tenant_id" | "outbox" | "traceparent">) => Promise<unknown>;
  /** Unique to this process. */
  holder: string;
  openChunks: number;
  stopping: AbortSignal;
  /** Aborts when the grace is over. */
  cut: AbortSignal;
  metrics: DispatcherMetrics;
  log: Log;
  clock: Clock;
  random: Random;
};

/** The two steps of a notification, joined to their stores: what the workers of `plan` and `deliver` call. */
export type Pipeline = {
  plan: (messageId: string, attempt: number) => Promise<Settlement>;
  deliver: (chunkId: string) => Promise<Settlement>;
};

/** Joins the dispatcher's decisions to MongoDB, JetStream and the providers. */
export const pipeline = (deps: PipelineDeps): Pipeline => {
  const { clock, directory, stopping } = deps;
  const messages = messageWork(deps.db);
  const send = sending(deps);
  const hold = (now: Date) => ({ holder: deps.holder, now, leaseMs });
  const move = advance({
    ...send,
    page: send.audience.page,
    resolve: send.audience.resolve,
    ring: (chunk, traceparent) => rung(deps.hints.chunk({ ...chunk, traceparent }, "cut")),
    openChunks: deps.openChunks,
    clock,
  });
  const ends = ending(deps);
  return {
    plan: timed(
      deps,
      plan({
        take: (id, now) => messages.take(id, hold(now)),
        extend: (message, now) => messages.extend(message, now, leaseMs),
        needsTurn: messages.needsTurn,
        app: directory.app,
        suspensions: deps.suspensions,
        advance: move,
        rest: (...given) => repeatWrite(leaseMs, () => messages.rest(...given)),
        hold: (...given) => repeatWrite(leaseMs, () => messages.suspend(...given)),
        complete: complete(ends),
        fail: fail(ends),
        stopping,
        clock,
      }),
    ),
    deliver: runChunk({
      take: (id, now) => send.chunks.take(id, hold(now)),
      extend: (chunk, now) => send.chunks.extend(chunk, now, leaseMs),
      end: send.chunks.end,
      giveBack: (...given) => repeatWrite(leaseMs, () => send.chunks.giveBack(...given)),
      hold: (...given) => repeatWrite(leaseMs, () => send.chunks.suspend(...given)),
      suspensions: deps.suspensions,
      recipientsOfRetries: send.chunks.recipientsOfRetries,
      message: messages.content,
      app: directory.app,
      deliver: send.deliver,
      followUp: send.followUp,
      count: send.count,
      ring: (...given) => rung(deps.hints.message(...given)),
      stopping,
      clock,
    }),
  };
};

/** Sending and what follows from it: the same for a queued chunk and for a small message in its first turn. */
const sending = (deps: PipelineDeps) => {
  const people = audience(deps.db);
  const stored = deliveries(deps.db);
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => stored.record(rows));
  return {
    audience: people,
    chunks: chunks(deps.db),
    deliver: observed(
      deps,
      deliver({
        load: people.load,
        languages: languages(deps.db),
        existing: stored.existing,
        record: recorder({ store, writers: 2 }), // 2: while one batch is stored the other half of the window is being sent
        sender: deps.senders.of,
        slot: deps.window.slot,
        cut: deps.cut,
        clock: deps.clock,
        random: deps.random,
      }),
    ),
    followUp: followUp({
      keepChunks: chunks(deps.db).keep,
      invalidate: invalidated(deps.db),
      publish: (...given) => deps.publishEvents(...given).catch(falseWhenAway),
      clock: deps.clock,
    }),
    count: (messageId: string, fresh: readonly DeliveryRow[]) =>
      messageWork(deps.db).count(messageId, countsOf(fresh), deps.clock.now()),
  };
};

/** Longer than any outage that a program should outlive: what was sent and cannot be stored would be sent again. */
const storeForMs = 600_000;

/** A hint that JetStream could not take is no failure: its document is due again soon. */
const rung = async (hint: Promise<void>): Promise<void> => {
  await hint.catch(falseWhenAway);
};

const falseWhenAway = (error: unknown): false => {
  if (error instanceof Unavailable) return false;
  throw error;
};

const timed =
  ({ metrics, clock }: PipelineDeps, turn: Pipeline["plan"]): Pipeline["plan"] =>
  async (messageId, attempt) => {
    const startedMs = clock.now().getTime();
    const settlement = await turn(messageId, attempt);
    metrics.planSeconds.observe((clock.now().getTime() - startedMs) / 1000);
    return settlement;
  };

/** One line and one measurement for each run of a chunk, or of a small message in its first turn. */
const observed =
  ({ log, metrics, clock }: PipelineDeps, run: ReturnType<typeof deliver>): ReturnType<typeof deliver> =>
  async (work, hold) => {
    const startedMs = clock.now().getTime();
    const delivered = await run(work, hold);
    const durationMs = clock.now().getTime() - startedMs;
    const { chunk } = work;
    const { stored, fresh, again, invalid, doubted, halted } = delivered;
    metrics.chunkSeconds.observe({ channel: chunk.channel }, durationMs / 1000);
    metrics.invalidationsHeld.inc({ channel: chunk.channel }, doubted);
    log.info(
      {
        tenant: chunk.tenant_id,
        app: chunk.app_id,
        message: chunk.message_id,
        chunk: chunk._id,
        trace: work.message.traceparent,
        channel: chunk.channel,
        attempt: chunk.attempt,
        recipients: chunk.recipients.length,
        stored: stored.length,
        counts: countsOf(fresh),
        again: again.length,
        invalid: invalid.length,
        doubted,
        halted,
        durationMs,
      },
      "chunk.delivered",
    );
    return delivered;
  };

const ending = (deps: PipelineDeps): CompleteDeps => ({
  tally: deliveries(deps.db).tally,
  finish: async (message, end) => {
    const isOurs = await messageWork(deps.db).finish(message, end);
    if (!isOurs) return false;
    deps.metrics.messagesEnded.inc({ status: end.status });
    deps.log.info(endOf(message, end), "message.ended");
    return true;
  },
  flush: deps.flushOutbox,
  settleQuota: async ({ tenant_id, reserved }, sent) => {
    if (reserved !== null) await usage(deps.db).giveBack(tenant_id, reserved, reserved.count - sent);
  },
  describe: messageEventData,
  clock: deps.clock,
});

const endOf = (message: MessageRow, { status, error, counts, at }: Parameters<CompleteDeps["finish"]>[1]) => ({
  tenant: message.tenant_id,
  app: message.app_id,
  message: message._id,
  trace: message.traceparent,
  status,
  error,
  counts,
  durationMs: at.getTime() - (message.started_at ?? message.created_at).getTime(),
});
