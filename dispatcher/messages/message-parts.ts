import type { EventPublisher } from "#core/queue/events.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { planStream } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import { outbox } from "#core/queue/outbox.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AnyTimerSource } from "#core/queue/timers.ts";
import { watchLevels } from "#core/runtime/metrics/dispatcher.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { contentTemplates } from "#core/runtime/templates/content/content-templates.ts";
import type { Changes } from "#core/storage/directory.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { effects } from "#core/storage/messages/effects.ts";
import { type MessageRow, messageIsDone } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { settleReserved } from "#core/storage/messages/settlement.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { templateVersions } from "#core/storage/templates/versions.ts";
import type { OpenAccount } from "../channels/accounts.ts";
import { type Senders, senders } from "../channels/registry.ts";
import { messageTemplates } from "../templates/open.ts";
import { aside } from "../work/aside.ts";
import { chunkHint, hints, messageHint } from "../work/hints.ts";
import type { Peers } from "../work/peers.ts";
import { planWorkers } from "../work/plan-workers.ts";
import { tenantsPlaces } from "../work/tenants-places.ts";
import { timerSources } from "../work/timer-sources.ts";
import { unsavedWindow } from "./delivery/window.ts";
import { openChunksOf } from "./open-chunks.ts";
import { type Pipeline, type PipelineDeps, pipeline } from "./pipeline.ts";
import { type RecountDeps, recount } from "./recount.ts";
import { withdraw } from "./withdraw.ts";

export type MessagePartsDeps = Omit<
  PipelineDeps,
  "senders" | "messageTemplates" | "aside" | "window" | "hints" | "outbox" | "settle" | "openChunks"
> & {
  openAccount: OpenAccount;
  peers: Peers;
  client: { close: () => void };
  rest: { close: () => void };
  config: { unsavedLimit: number; openChunks: number; natsPrefix: string; natsReplicas: number };
  nats: Nats;
  publisher: Publisher;
  events: EventPublisher;
  subjects: Subjects;
  changes: Changes;
  metrics: Metrics<"dispatcher">;
};

/** What a dispatcher runs to plan and send messages. */
export const messageParts = (
  deps: MessagePartsDeps,
): { parts: Part[]; timers: AnyTimerSource[] } & Pick<Pipeline, "sendHeld" | "countCutOff"> => {
  const { config, metrics, db, clock } = deps;
  const rows = collectionOf<MessageRow>(db, messageCollection);
  const settle = settleReserved(rows, usage(db));
  const published = hints({ ...deps, tenant: deps.directory.tenant });
  const box = outbox<MessageRow>({
    rows,
    events: deps.events,
    done: messageIsDone,
    log: deps.log,
    metrics: metrics.queue,
  });
  const templates = contentTemplates();
  const accounts = senders({ ...deps, open: deps.openAccount });
  const window = unsavedWindow(config.unsavedLimit);
  watchLevels(metrics.registry, { ...config, unsaved: window.taken, openBreakers: accounts.openBreakers });
  const throttled = aside({ name: "throttled chunks", most: throttledAtOnce, log: deps.log });
  const steps = pipeline({
    ...deps,
    aside: throttled.run,
    senders: accounts,
    messageTemplates: messageTemplates({ versions: templateVersions(db), templates }),
    window,
    hints: published,
    outbox: box,
    settle,
    openChunks: () => openChunksOf(config.openChunks, deps.peers),
  });
  return {
    sendHeld: steps.sendHeld,
    countCutOff: steps.countCutOff,
    parts: [templates, box, accountsPart(accounts, [deps.client, deps.rest]), throttled.part, workers(deps, steps)],
    timers: timerSources({
      db,
      hints: published,
      settle,
      flush: box.flushDue,
      recount: recount(counting(deps)),
      withdraw: withdraw({ chunks: chunks(db), waiting: waitingDeliveries(db), messages: messageWork(db), clock }),
      clock,
    }),
  };
};

const counting = ({ db, clock }: MessagePartsDeps): RecountDeps => ({
  deliveries: deliveries(db),
  effects: effects(db),
  messages: messageWork(db),
  clock,
});

const closeIdleEveryMs = 60_000;

const accountsPart = (accounts: Senders, clients: readonly { close: () => void }[]): Part => {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "provider accounts",
    start: async () => {
      timer = setInterval(accounts.closeIdle, closeIdleEveryMs);
    },
    stop: async () => {
      clearInterval(timer);
      await accounts.close();
      for (const client of clients) client.close();
    },
  };
};

/** Each has at most 500 recipients in memory; what finds no room is tried again after seconds, maybe by another. */
const throttledAtOnce = 64;
const readPlansEveryMs = 60_000;
/** Small messages are sent in their first turn, and wait for their provider there. So many of one tenant. */
const turnsAtOnce = 32;
/** Longer than the slowest chunk that keeps its lease: 500 mails at one a second. */
const workTimeoutMs = 900_000;

const workers = (
  { config, db, nats, timing, log, metrics, tracer, changes, stopping }: MessagePartsDeps,
  steps: Pipeline,
): Part => {
  const plans = collectionOf<PlanRow>(db, planCollection);
  const streamOf = (plan: string, backlogPerTenant: number) =>
    planStream(config.natsPrefix, { name: plan, backlogPerTenant }, timing);
  /** A stream that somebody deleted is made again, unless its plan is gone; the timers publish its hints again. */
  const repair = async (plan: string): Promise<void> => {
    const row = await plans.findOne({ _id: plan });
    if (row !== null) await ensureStream(nats.jsm, streamOf(plan, row.backlog_per_tenant), config.natsReplicas);
  };
  const open = (plan: string): Part[] => {
    const { stream } = streamOf(plan, 1);
    const given = { nats, timing, log, metrics: metrics.queue, tracer };
    const common = { ...given, timeoutMs: workTimeoutMs, repair: () => repair(plan) };
    return [
      worker({
        ...common,
        name: `plan ${plan}`,
        stream: stream.name,
        consumer: "plan",
        parse: messageHint,
        ...tenantsPlaces<{ message_id: string }>({
          most: turnsAtOnce,
          handle: ({ message_id }, { attempt, traceparent }) => steps.plan(message_id, attempt, traceparent),
          stopping,
        }),
      }),
      worker({
        ...common,
        name: `deliver ${plan}`,
        stream: stream.name,
        consumer: "deliver",
        parse: chunkHint,
        ...tenantsPlaces<{ chunk_id: string }>({
          most: config.openChunks,
          handle: ({ chunk_id }, { traceparent }) => steps.deliver(chunk_id, traceparent),
          stopping,
        }),
      }),
    ];
  };
  return planWorkers({
    plans: async () => (await plans.find().toArray()).map(({ _id }) => _id),
    open,
    onChange: changes.on,
    everyMs: readPlansEveryMs,
    onError: (err) => log.warn({ err }, "plans.not_read"),
  });
};
