import type { Db } from "mongodb";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { falseWhenAway } from "#core/errors.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { traceFacts } from "#core/runtime/tracing/traceparent.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import type { Directory } from "#core/storage/directory.ts";
import { audience as audienceStore } from "#core/storage/messages/audience.ts";
import { choices } from "#core/storage/messages/choices.ts";
import { type ChunkRow, chunks } from "#core/storage/messages/chunks.ts";
import { newer } from "#core/storage/messages/collapse.ts";
import { type DeliveryRow, deliveries } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { passedOver } from "#core/storage/messages/passed-over.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { type Left, messageWork } from "#core/storage/messages/work.ts";
import { badges } from "#core/storage/people/badges.ts";
import { invalidated } from "#core/storage/people/ended.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { languages } from "#core/storage/people/users.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { deliveryCounts } from "#core/storage/usage/delivery-counts.ts";
import { receiptApplier } from "../callbacks/applier.ts";
import type { Senders } from "../channels/registry.ts";
import { type InOrder, inOrder } from "../live-activities/in-order.ts";
import { type SendHeld, sendHeld } from "../live-activities/send-held.ts";
import { type ActivityStores, activityStores } from "../live-activities/stores.ts";
import { activityStrategy } from "../live-activities/strategy.ts";
import type { Suppressions } from "../suppressions/open.ts";
import type { MessageTemplates } from "../templates/open.ts";
import { countCutOff } from "../usage/cut-off.ts";
import type { Hints } from "../work/hints.ts";
import { repeatWrite } from "../work/repeat-write.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { aimedAudience } from "./aimed.ts";
import type { AudienceDeps } from "./audience.ts";
import { runChunk } from "./chunk.ts";
import { type Deliver, type DeliverDeps, deliver } from "./delivery/deliver.ts";
import { type RecorderDeps, recorder } from "./delivery/record.ts";
import type { Window } from "./delivery/window.ts";
import { type Finish, type FinishDeps, finish } from "./finish.ts";
import { followUp } from "./follow-up.ts";
import { gates } from "./gates/all.ts";
import { observed } from "./observed.ts";
import { onePerUser } from "./one-per-user.ts";
import { planMessage } from "./plan.ts";
import { recordResend, resend } from "./resend.ts";
import { type SendChunks, sendChunks } from "./send-chunks.ts";
import { deliverByStrategy, type StrategyOf, usualStrategy } from "./strategy.ts";
import { turn } from "./turn.ts";

export type PipelineDeps = {
  db: Db;
  directory: Directory;
  senders: Senders;
  suspensions: Suspensions;
  suppressions: Suppressions;
  messageTemplates: MessageTemplates;
  window: Window;
  hints: Hints;
  events: Pick<EventPublisher, "publish">;
  outbox: FinishDeps["outbox"];
  settle: FinishDeps["settle"];
  /** Unique to this process. */
  holder: string;
  openChunks: number;
  timing: Timing;
  stopping: AbortSignal;
  /** Aborts when the grace is over. */
  cut: AbortSignal;
  metrics: DispatcherMetrics;
  tracer: Tracer;
  log: Log;
  clock: Clock;
  random: Random;
};

/** The two steps of a notification, joined to their stores: what the workers of `plan` and `deliver` call. */
export type Pipeline = {
  plan: (messageId: string, attempt: number, traceparent?: string | null) => Promise<Settlement>;
  deliver: (chunkId: string, traceparent?: string | null) => Promise<Settlement>;
  /** Sends an update of a live activity to devices that it waited for. */
  sendHeld: SendHeld;
  /** Counts usage for a dispatcher that may have been killed. Never rejects. */
  countCutOff: (holder: string) => Promise<void>;
};

/** Joins the dispatcher's decisions to MongoDB, JetStream and the providers. */
export const pipeline = (given: PipelineDeps): Pipeline => {
  const deps = { ...given, ...stores(given), hints: quiet(given.hints) };
  const stored = { ...deps, ...activityStores(deps.db) };
  const ofActivities = { ...stored, inOrder: inOrder(stored) };
  const aimed = aimedAudience({ people: deps.people, aimed: deps.aimed });
  const once = onePerUser({ ...deps, recipients: deps.people, addressesOf: aimed.ofUsers });
  const [usual, liveActivity] = [usualStrategy(aimed.page, once), activityStrategy(ofActivities)];
  const strategyOf: StrategyOf = ({ live_activity: live }) => (live === undefined ? usual : liveActivity);

  const audience: AudienceDeps = {
    resolve: aimed.resolve,
    page: (of, message) => strategyOf(message).audienceOf(of, message),
  };
  const send = sending(deps, strategyOf);
  const steps = { send, audience, turn: turn({ ...deps, send, audience }) };
  return {
    plan: timed(
      deps,
      planMessage({
        ...deps,
        finish: finishing(deps),
        turn: (message, app, lease) => strategyOf(message).turn({ message, app, lease }, steps),
      }),
    ),
    deliver: runChunk({ ...deps, send: (batch, lease) => strategyOf(batch.message).send(batch, lease, send) }),
    sendHeld: sendingHeld(deps, ofActivities),
    countCutOff: countCutOff({ ...deps, deliveries: deliveries(deps.db), count: deps.usage.count }),
  };
};

/** What is stored of messages and chunks, with this process as the holder of every lease that it takes. */
const stores = ({ db, holder, timing: { leaseMs } }: PipelineDeps) => {
  const [messages, parts, people] = [messageWork(db), chunks(db), audienceStore(db)];
  const usage = deliveryCounts(db);
  /** What was counted of a holder is done with once this has stored its end. */
  const ending = async (holder: { _id: string }, end: Promise<boolean>): Promise<boolean> => {
    const isOurs = await end;
    if (isOurs) void usage.forget(holder._id);
    return isOurs;
  };
  const repeated = repeating(leaseMs);
  const lease = (now: Date) => ({ holder, now, leaseMs });
  return {
    usage,
    people,
    aimed: aimedSubscriptions(db),
    choices: choices(db),
    messages: {
      ...messages,
      take: (id: string, now: Date) => messages.take(id, lease(now)),
      extend: (message: MessageRow, now: Date) => messages.extend(message, now, leaseMs),
      finish: (...given: Parameters<typeof messages.finish>) => ending(given[0], messages.finish(...given)),
      /** Of a planned message only chunks are left: what its turn sent is over. */
      rest: repeated((message: MessageRow, dueAt: Date, left: Left) => {
        const resting = messages.rest(message, dueAt, left);
        return left.planned ? ending(message, resting) : resting;
      }),
      defer: repeated(messages.defer),
    },
    chunks: {
      ...parts,
      take: (id: string, now: Date) => parts.take(id, lease(now)),
      extend: (chunk: ChunkRow, now: Date) => parts.extend(chunk, now, leaseMs),
      end: (chunk: ChunkRow) => ending(chunk, parts.end(chunk)),
      giveBack: repeated(parts.giveBack),
      defer: repeated(parts.defer),
    },
  };
};

type Joined = PipelineDeps & ReturnType<typeof stores>;

/** Repeats a write while MongoDB is away, until the lease would have ended by itself. */
const repeating =
  (leaseMs: number) =>
  <Args extends unknown[], T>(write: (...given: Args) => Promise<T>) =>
  (...given: Args): Promise<T> =>
    repeatWrite(leaseMs, () => write(...given));

/** A hint that JetStream could not take is no failure: its document is due again soon. */
const quiet = (hints: Hints): Hints => ({
  message: async (...given) => void (await hints.message(...given).catch(falseWhenAway)),
  chunk: async (...given) => void (await hints.chunk(...given).catch(falseWhenAway)),
});

/** Sending: the same for a queued chunk and for a small message in its first turn. */
const sending = (deps: Joined, strategyOf: StrategyOf): SendChunks => {
  const { db, chunks: parts, messages, clock } = deps;
  const stored = deliveries(db);
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => stored.record(rows));
  const toRecipients = delivering(deps, { existing: stored.existing, record: batched(store) });
  const once = observed(deps, deliverByStrategy({ strategyOf, deliver: toRecipients, record: store }));
  const [again, instead] = [sendingAgain(deps), sendingInstead(deps, strategyOf)];
  const deliverOf = ({ resend_until: resendUntil, instead_from: insteadFrom }: ChunkRow): Deliver =>
    resendUntil !== undefined ? again : insteadFrom === undefined ? once : instead;
  return sendChunks({
    deliver: (work, lease) => deliverOf(work.chunk)(work, lease),
    followUp: following(deps),
    chunks: parts,
    countUsage: (...given) => repeatWrite(storeForMs, () => deps.usage.count(...given)),
    messages,
    clock,
  });
};

/** The same for deliveries that failed for now after their provider had taken them. */
const sendingAgain = (deps: Joined): Deliver => {
  const { find } = receiptStore(deps.db);
  const repeat = repeating(storeForMs);
  const given = { find: repeat(find), apply: receiptApplier({ ...deps, repeat }) };
  const toRecipients = delivering(deps, { existing: async () => [], record: recordResend(given) });
  return resend(given, observed(deps, toRecipients));
};

/** The same for addresses in the place of others: that they were left out is stored already. */
const sendingInstead = (deps: Joined, strategyOf: StrategyOf): Deliver => {
  const { replace, ended } = passedOver(deps.db);
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => replace(rows));
  const toRecipients = delivering(deps, { existing: ended, record: batched(store) });
  return observed(deps, deliverByStrategy({ strategyOf, deliver: toRecipients, record: store }));
};

/** The same for updates that waited for a device: their deliveries are there already. */
const sendingHeld = (deps: Joined, ofActivities: ActivityStores & { inOrder: InOrder }): SendHeld => {
  const { replace, ended } = waitingDeliveries(deps.db);
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => replace(rows));
  const toDevices = observed(deps, delivering(deps, { existing: ended, record: batched(store) }));
  return sendHeld({ ...deps, ...ofActivities, deliver: toDevices, followUp: following(deps) });
};

/** 2: while one batch is stored the other half of the window is being sent. */
const batched = (store: RecorderDeps["store"]) => recorder({ store, writers: 2 });

const delivering = (deps: Joined, stored: DeliverDeps["deliveries"]): Deliver => {
  const { db, people } = deps;
  return deliver({
    ...deps,
    guard: deps.suppressions.guard,
    recipients: { load: people.load, languages: languages(db), badges: badges(db) },
    deliveries: stored,
    templates: deps.messageTemplates,
    gates: gates({ ...deps, newer: newer(db) }),
  });
};

const following = ({ db, events, suppressions, chunks: parts, clock }: Joined): ReturnType<typeof followUp> =>
  followUp({
    chunks: parts,
    subscriptions: { invalidate: invalidated(db) },
    closeSessions: sessions(db).close,
    suppress: async (bounced, now) => suppressions.suppress(await suppressions.causesOf(bounced, now)),
    events: { publish: (...given) => events.publish(...given).catch(falseWhenAway) },
    clock,
  });

/** A write is repeated for so long, which is longer than any outage that a program should survive: what was sent and
 * is not stored would be sent again. */
const storeForMs = 600_000;

const timed =
  ({ metrics, clock }: PipelineDeps, planOne: Pipeline["plan"]): Pipeline["plan"] =>
  async (messageId, attempt, traceparent) => {
    const startedMs = clock.now().getTime();
    const settlement = await planOne(messageId, attempt, traceparent);
    metrics.planSeconds.observe({}, (clock.now().getTime() - startedMs) / 1000, traceparent);
    return settlement;
  };

const finishing = (deps: Joined): Finish =>
  finish({
    ...deps,
    deliveries: deliveries(deps.db),
    messages: {
      finish: async (message, end) => {
        const isOurs = await deps.messages.finish(message, end);
        if (!isOurs) return false;
        deps.metrics.messagesEnded.inc({ status: end.status });
        deps.log.info(endOf(message, end), "message.ended");
        return true;
      },
    },
  });

const endOf = (
  message: MessageRow,
  { status, error, counts, at }: Parameters<FinishDeps["messages"]["finish"]>[1],
) => ({
  tenant: message.tenant_id,
  app: message.app_id,
  message: message._id,
  ...traceFacts(message.traceparent),
  status,
  error,
  counts,
  durationMs: at.getTime() - (message.started_at ?? message.created_at).getTime(),
});
