import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import { eventPublisher } from "#core/queue/events.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { planStream } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import { outbox } from "#core/queue/outbox.ts";
import { subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import { watchLevels } from "#core/runtime/metrics/dispatcher.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { type Check, healthServer } from "#core/runtime/process/health-server.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { directory } from "#core/storage/directory.ts";
import { type MessageRow, messageCollection } from "#core/storage/messages/messages.ts";
import { retention } from "#core/storage/messages/retention.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import { openDatabase } from "#core/storage/open.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { suspension } from "#core/storage/suspension.ts";
import { namedLease } from "#core/storage/work/leases.ts";
import { type AccountsDeps, openAccount } from "./channels/accounts.ts";
import { sendTimeoutMs } from "./channels/deadlines.ts";
import { apnsTokens } from "./channels/ios-push/tokens.ts";
import { senders } from "./channels/registry.ts";
import { purge } from "./clean-up/retention.ts";
import { type Pipeline, pipeline } from "./messages/pipeline.ts";
import { unsavedWindow } from "./messages/window.ts";
import { guardedClient } from "./net/guarded/client.ts";
import { http2Pool } from "./net/http2/pool.ts";
import { peopleParts } from "./people/parts.ts";
import { webhookParts } from "./webhooks/parts.ts";
import { chunkHint, hints, messageHint } from "./work/hints.ts";
import { planWorkers } from "./work/plan-workers.ts";
import { streams } from "./work/streams.ts";
import { suspensions } from "./work/suspensions.ts";
import { timerSources } from "./work/timer-sources.ts";
import { unpublishedEvents } from "./work/unpublished-events.ts";

/** What of the settings the parts need; `config/dispatcher.ts` describes each. */
export type Settings = {
  graceSeconds: number;
  natsPrefix: string;
  natsReplicas: number;
  keyRing: string;
  healthHost: string;
  healthPort: number;
  unsavedLimit: number;
  openChunks: number;
  apnsUrl: string;
  apnsSandboxUrl: string;
  fcmUrl: string;
  allowedRanges: readonly string[];
  mailUrl?: string;
  mailFrom?: string;
  allowedPorts: readonly number[];
};

export type Made = {
  config: Settings;
  mongo: Mongo;
  nats: Nats;
  log: Log;
  metrics: Metrics<"dispatcher">;
  clock: Clock;
  random: Random;
  /** Unique to this process: it names the leases it holds. */
  holder: string;
};

/** Everything that a dispatcher runs, in the order of starting, but for {@link health}. */
export const parts = (made: Made): Part[] => {
  const { mongo, log, metrics, clock, holder } = made;
  const shared = sharing(made);
  const sends = sending(made, shared);
  const { natsPrefix, natsReplicas } = made.config;
  const webhooks = webhookParts({ ...made, ...shared, natsPrefix, natsReplicas, mail: mailOf(made.config) });
  const left = unpublishedEvents({ ...made, ...shared });
  const people = peopleParts({ ...made, db: mongo.db, events: eventPublisher(shared), metrics: metrics.queue });
  const sources = [
    ...timerSources({ db: mongo.db, hints: sends.hints, flush: sends.outbox.flush }),
    webhooks.timer,
    left.timer,
    ...people.timers,
  ];
  return [
    stores(made),
    streams(made),
    shared.changes,
    shared.suspensions,
    sends.outbox,
    left.part,
    ...people.parts,
    accountsPart(sends.accounts, shared.client),
    workersOfPlans(made, sends.pipeline, shared.changes.on),
    ...webhooks.parts,
    purging(made),
    timers({ sources, holder, clock, log, db: mongo.db, metrics: metrics.queue }),
    { name: "halt", start: async () => undefined, stop: async (graceIsOver) => shared.halt(graceIsOver) },
  ];
};

const mailOf = ({ mailUrl: url, mailFrom: from }: Settings): { url: string; from: string } | null =>
  url === undefined || from === undefined ? null : { url, from };

/** What sending and webhooks both use. */
const sharing = ({ config, mongo, nats, clock, log }: Made) => {
  const [stopping, cut] = [new AbortController(), new AbortController()];
  const names = subjects(config.natsPrefix);
  const news = changes({ nats, subjects: names });
  return {
    db: mongo.db,
    subjects: names,
    changes: news,
    directory: directory({ db: mongo.db, changes: news, clock }),
    suspensions: suspensions({
      suspension: suspension(mongo.db),
      changes: news,
      onError: (err) => log.warn({ err }, "suspensions.not_read"),
      clock,
    }),
    publisher: publisher(nats),
    announcer: announcer({ nats, subjects: names }),
    client: guardedClient({ guard: addressGuard({ allow: config.allowedRanges, ports: config.allowedPorts }) }),
    unseal: keyRing(config.keyRing).open,
    stopping: stopping.signal,
    cut: cut.signal,
    halt: (graceIsOver: AbortSignal) => {
      stopping.abort();
      graceIsOver.addEventListener("abort", () => cut.abort(), { once: true });
    },
  };
};

type Shared = ReturnType<typeof sharing>;

const sending = (made: Made, shared: Shared) => {
  const { config, log, metrics, clock, holder, random } = made;
  const events = eventPublisher(shared);
  const rung = hints({ ...shared, tenant: shared.directory.tenant });
  const box = outbox<MessageRow>({
    rows: collectionOf<MessageRow>(shared.db, messageCollection),
    events,
    done: { status: { $in: ["completed", "failed", "cancelled"] } },
    log,
    metrics: metrics.queue,
  });
  const accounts = senders({ open: openAccount(accountDeps(made, shared)), clock, metrics, log });
  const window = unsavedWindow(config.unsavedLimit);
  watchLevels(metrics.registry, {
    unsaved: window.taken,
    unsavedLimit: config.unsavedLimit,
    openBreakers: accounts.openBreakers,
  });
  const steps = pipeline({
    ...shared,
    senders: accounts,
    window,
    hints: rung,
    publishEvents: events.publish,
    flushOutbox: box.flush,
    openChunks: config.openChunks * 2, // one set under way, one waiting behind it
    holder,
    metrics,
    log,
    clock,
    random,
  });
  return { pipeline: steps, hints: rung, outbox: box, accounts };
};

const accountDeps = ({ config, clock }: Made, { client, unseal }: Shared): AccountsDeps => ({
  unseal,
  client,
  open: http2Pool,
  tokens: apnsTokens(clock),
  apnsUrls: { production: config.apnsUrl, sandbox: config.apnsSandboxUrl },
  fcmUrl: config.fcmUrl,
  timeoutMs: (channel) => sendTimeoutMs(channel, config.graceSeconds * 1_000),
  clock,
});

/** Answers from the first moment on; `started` tells whether the rest works. */
export const health = (
  { config, mongo, metrics }: Pick<Made, "config" | "mongo" | "metrics">,
  { jetstream, started }: Record<"jetstream" | "started", Check>,
): Part => {
  const stores = { mongodb: mongo.ping, jetstream };
  watchDependencies(metrics.registry, stores);
  const checks = { ...stores, started };
  return healthServer({ host: config.healthHost, port: config.healthPort, checks, registry: metrics.registry });
};

/** MongoDB and the link to NATS, open for the whole run: what the program needs of MongoDB is made before anything else. */
const stores = ({ mongo, nats, log }: Made): Part => ({
  name: "stores",
  start: (signal) => openDatabase(mongo, log, signal),
  stop: async () => {
    await nats.close();
    await mongo.close();
  },
});

const closeIdleEveryMs = 60_000;

const accountsPart = (accounts: ReturnType<typeof senders>, client: ReturnType<typeof guardedClient>): Part => {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "provider accounts",
    start: async () => {
      timer = setInterval(accounts.closeIdle, closeIdleEveryMs);
    },
    stop: async () => {
      clearInterval(timer);
      await accounts.close();
      client.close();
    },
  };
};

const purgeLeaseMs = 600_000; // longer than a page takes; another process goes on after it

const purging = ({ mongo, holder, clock, log, metrics }: Made): Part => {
  const lease = namedLease(mongo.db, { name: "purge", holder, leaseMs: purgeLeaseMs, clock });
  return purge({
    plans: () => plansOf(mongo).find().toArray(),
    ...retention(mongo.db),
    isOurs: async () => (await lease.extend()) || (await lease.take()) !== null,
    setAside: countAside(metrics.queue, "retention"),
    clock,
    log,
  });
};

const plansOf = ({ db }: Mongo) => collectionOf<PlanRow>(db, planCollection);

const readPlansEveryMs = 60_000;
/** Small messages are sent in their first turn, and wait for their provider there. */
const turnsAtOnce = 32;
/** Longer than the slowest chunk that keeps its lease: 500 mails at one a second. */
const workTimeoutMs = 900_000;

const workersOfPlans = (
  { config, mongo, nats, log, metrics }: Made,
  steps: Pipeline,
  onChange: Parameters<typeof planWorkers>[0]["onChange"],
): Part => {
  const streamOf = (plan: string, backlogPerTenant: number) =>
    planStream(config.natsPrefix, { name: plan, backlogPerTenant });
  /** A stream that somebody deleted is made again, unless its plan is gone; the timers ring what it held. */
  const repair = async (plan: string): Promise<void> => {
    const row = await plansOf(mongo).findOne({ _id: plan });
    if (row !== null) await ensureStream(nats.jsm, streamOf(plan, row.backlog_per_tenant), config.natsReplicas);
  };
  const open = (plan: string): Part[] => {
    const { stream } = streamOf(plan, 1);
    const common = { nats, timeoutMs: workTimeoutMs, repair: () => repair(plan), log, metrics: metrics.queue };
    return [
      worker({
        ...common,
        name: `plan ${plan}`,
        stream: stream.name,
        consumer: "plan",
        concurrency: turnsAtOnce,
        parse: messageHint,
        handle: ({ message_id }, { attempt }) => steps.plan(message_id, attempt),
      }),
      worker({
        ...common,
        name: `deliver ${plan}`,
        stream: stream.name,
        consumer: "deliver",
        concurrency: config.openChunks,
        parse: chunkHint,
        handle: ({ chunk_id }) => steps.deliver(chunk_id),
      }),
    ];
  };
  return planWorkers({
    plans: async () => (await plansOf(mongo).find().toArray()).map(({ _id }) => _id),
    open,
    onChange,
    everyMs: readPlansEveryMs,
    onError: (err) => log.warn({ err }, "lanes.not_read"),
  });
};
