import type { Db } from "mongodb";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { falseWhenAway } from "#core/errors.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import type { Directory } from "#core/storage/directory.ts";
import { inboxes } from "#core/storage/inbox/inboxes.ts";
import { capTakes } from "#core/storage/messages/cap-takes.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import { newer } from "#core/storage/messages/collapse.ts";
import { type DeliveryRow, deliveries } from "#core/storage/messages/deliveries.ts";
import { experiments } from "#core/storage/messages/experiments.ts";
import { passedOver } from "#core/storage/messages/passed-over.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { throttles } from "#core/storage/messages/throttles.ts";
import { type WaitingDeliveries, waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { badges } from "#core/storage/people/badges.ts";
import { invalidated } from "#core/storage/people/ended.ts";
import { reachedElsewhere } from "#core/storage/people/reached-elsewhere.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import { languages } from "#core/storage/people/users.ts";
import { zonesOf } from "#core/storage/people/zones.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { templatePeople } from "#core/storage/templates/people.ts";
import { receiptApplier } from "../callbacks/applier.ts";
import type { Senders } from "../channels/registry.ts";
import { failedReplies } from "../conversations/failed.ts";
import { type InOrder, inOrder } from "../live-activities/in-order.ts";
import { type SendHeld, sendHeld } from "../live-activities/send-held.ts";
import { type ActivityStores, activityStores } from "../live-activities/stores.ts";
import { activityStrategy } from "../live-activities/strategy.ts";
import type { Suppressions } from "../suppressions/open.ts";
import type { MessageTemplates } from "../templates/open.ts";
import { countCutOff } from "../usage/cut-off.ts";
import type { Aside } from "../work/aside.ts";
import type { Hints } from "../work/hints.ts";
import { repeatWrite } from "../work/repeat-write.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { addressesOn, aimedAudience } from "./aimed.ts";
import type { AudienceDeps } from "./audience.ts";
import { runChunk } from "./chunk.ts";
import { decide } from "./decide.ts";
import { deliver } from "./delivery/deliver.ts";
import type { DeliverDeps } from "./delivery/deliver-deps.ts";
import { type InboxWriterDeps, inboxWriter } from "./delivery/inbox.ts";
import { keepLater } from "./delivery/later.ts";
import { type RecorderDeps, recorder } from "./delivery/record.ts";
import type { Window } from "./delivery/window.ts";
import type { Deliver } from "./delivery/work.ts";
import { looking } from "./fallback/open.ts";
import type { FinishDeps } from "./finish.ts";
import { finishing } from "./finishing.ts";
import { followUp } from "./follow-up.ts";
import { gates } from "./gates/all.ts";
import { observed } from "./observed.ts";
import { onePerUser } from "./one-per-user.ts";
import { planMessage } from "./plan.ts";
import { planRange, type RangeReader } from "./ranges.ts";
import { recordResend, resend } from "./resend.ts";
import { type SendChunks, sendChunks } from "./send-chunks.ts";
import { repeating, stores } from "./stores.ts";
import { deliverByStrategy, type StrategyOf, usualStrategy } from "./strategy.ts";
import { keepRows } from "./timing/ahead.ts";
import { frequencyCaps } from "./timing/caps.ts";
import { sorting } from "./timing/open.ts";
import { quietHours } from "./timing/quiet.ts";
import { throttle } from "./timing/throttle.ts";
import { turn } from "./turn.ts";
import { cancelWaiting } from "./withdraw.ts";

export type PipelineDeps = Pick<InboxWriterDeps, "noticeInboxes"> & {
  db: Db;
  factsOf: FactsOf;
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
  announcer: Pick<Announcer, "changed">;
  /** Unique to this process. */
  holder: string;
  /** Chunks of one message that may be queued or under way at once. */
  openChunks: () => number;
  /** Runs chunks that mostly wait. */
  aside: Aside["run"];
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
    page: (of, message) =>
      message.live_activity === undefined
        ? usual.audienceOf(of, message)
        : aimed.among(of, message, (after) => liveActivity.audienceOf({ ...of, after }, message)),
  };
  const send = sending(deps, strategyOf, observed(deps, looking(deps, addressesOn(deps.aimed))));
  const ranges: RangeReader = { ...aimed, nthBehind: subscriptionCounts(deps.db).nthBehind };
  const cancelRows = cancelWaiting(waitingDeliveries(deps.db));
  const record = repeating(storeForMs)(deliveries(deps.db).record);
  const rows = keepRows({ ...deps, load: deps.people.load, record, cancelWaiting: cancelRows });
  const steps = { send, audience, turn: turn({ ...deps, send, audience, ranges, keepRows: rows }) };
  return {
    plan: timed(
      deps,
      planMessage({
        ...deps,
        finish: finishing({ ...deps, deliveries: deliveries(deps.db) }),
        decide: decide({ experiments: experiments(deps.db), clock: deps.clock }),
        turn: (message, app, lease) => strategyOf(message).turn({ message, app, lease }, steps),
      }),
    ),
    deliver: runChunk({
      ...deps,
      cancelWaiting: cancelRows,
      send: (batch, lease) => strategyOf(batch.message).send(batch, lease, send),
      planRange: planRange({ ...deps, ranges }),
    }),
    sendHeld: sendingHeld(deps, ofActivities),
    countCutOff: countCutOff({ ...deps, deliveries: deliveries(deps.db), count: deps.usage.count }),
  };
};

type Joined = PipelineDeps & ReturnType<typeof stores>;

/** A hint that JetStream could not take is no failure: its document is due again soon. */
const quiet = (hints: Hints): Hints => ({
  message: async (...given) => void (await hints.message(...given).catch(falseWhenAway)),
  chunk: async (...given) => void (await hints.chunk(...given).catch(falseWhenAway)),
});

/** Sending: the same for a queued chunk and for a small message in its first turn. */
const sending = (deps: Joined, strategyOf: StrategyOf, look: Deliver): SendChunks => {
  const { db, chunks: parts, messages, clock } = deps;
  const stored = deliveries(db);
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => stored.record(rows));
  const toRecipients = delivering(deps, { existing: stored.existing, record: batched(store) });
  const byStrategy = deliverByStrategy({ strategyOf, deliver: toRecipients, record: store });
  const once = observed(deps, sorting(deps, store, byStrategy));
  const [again, instead] = [sendingAgain(deps), sendingInstead(deps, strategyOf)];
  const scheduled = sendingScheduled(deps, strategyOf);
  const deliverOf = (chunk: ChunkRow): Deliver => {
    if (chunk.resend_until !== undefined) return again;
    if (chunk.looks_at !== undefined) return look;
    if (chunk.instead_from !== undefined) return instead;
    return chunk.has_rows === true ? scheduled : once;
  };
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
  const { deliver: toRecipients, store } = replacing(deps, passedOver(deps.db));
  return observed(deps, deliverByStrategy({ strategyOf, deliver: toRecipients, record: store }));
};

/** The same for recipients whose deliveries wait for their time. */
const sendingScheduled = (deps: Joined, strategyOf: StrategyOf): Deliver => {
  const { deliver: toRecipients, store } = replacing(deps, waitingDeliveries(deps.db));
  return observed(deps, deliverByStrategy({ strategyOf, deliver: toRecipients, record: store }));
};

/** The same for updates that waited for a device: their deliveries are there already. */
const sendingHeld = (deps: Joined, ofActivities: ActivityStores & { inOrder: InOrder }): SendHeld =>
  sendHeld({
    ...deps,
    ...ofActivities,
    deliver: observed(deps, replacing(deps, waitingDeliveries(deps.db)).deliver),
    followUp: following(deps),
  });

type Replaceable = Pick<WaitingDeliveries, "replace" | "ended">;

/** Delivers so that outcomes take the place of deliveries that are there. */
const replacing = (deps: Joined, { replace, ended }: Replaceable) => {
  const store = (rows: readonly DeliveryRow[]) => repeatWrite(storeForMs, () => replace(rows));
  return { store, deliver: delivering(deps, { existing: ended, record: batched(store) }) };
};

/** 2: while one batch is stored the other half of the window is being sent. */
const batched = (store: RecorderDeps["store"]) => recorder({ store, writers: 2 });

const delivering = (deps: Joined, stored: DeliverDeps["deliveries"]): Deliver => {
  const { db, people } = deps;
  return deliver({
    ...deps,
    guard: deps.suppressions.guard,
    recipients: { load: people.load, languages: languages(db), people: templatePeople(db), badges: badges(db) },
    deliveries: stored,
    templates: deps.messageTemplates,
    gates: gates({ ...deps, newer: newer(db) }),
    quietHours: quietHours(zonesOf(db)),
    caps: capping(deps),
    inbox: inboxWriter({ ...deps, add: repeating(storeForMs)(inboxes(db).add) }),
    throttle: throttle({ ...deps, throttles: throttles(db) }),
  });
};

/** Places are given back as long as outcomes are stored. */
const capping = ({ db, clock }: Joined): DeliverDeps["caps"] => {
  const [takes, repeat] = [capTakes(db), repeating(storeForMs)];
  const kept = { take: takes.take, giveBack: repeat(takes.giveBack) };
  return frequencyCaps({ takes: kept, zonesOf: zonesOf(db), reachedElsewhere: repeat(reachedElsewhere(db)), clock });
};

const following = ({ db, people, events, suppressions, chunks: parts, clock }: Joined): ReturnType<typeof followUp> =>
  followUp({
    keepLater: keepLater({ chunks: parts, load: people.load, record: deliveries(db).record, clock }),
    chunks: parts,
    subscriptions: { invalidate: invalidated(db) },
    moveSessions: sessions(db).move,
    repliesFailed: failedReplies(db),
    suppress: async (bounced, now) => suppressions.suppress(await suppressions.causesOf(bounced, now)),
    events: { publish: (...given) => events.publish(...given).catch(falseWhenAway) },
    clock,
  });

/** A write is repeated for longer than any outage: what was sent and is not stored would be sent again. */
const storeForMs = 600_000;

const timed =
  ({ metrics, clock }: PipelineDeps, planOne: Pipeline["plan"]): Pipeline["plan"] =>
  async (messageId, attempt, traceparent) => {
    const startedMs = clock.now().getTime();
    const settlement = await planOne(messageId, attempt, traceparent);
    metrics.planSeconds.observe({}, (clock.now().getTime() - startedMs) / 1000, traceparent);
    return settlement;
  };
