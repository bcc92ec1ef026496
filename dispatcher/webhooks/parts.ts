import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import { isOfOne } from "#core/queue/passing.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { eventStream, webhookStream } from "#core/queue/topology.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import type { Changes, Directory } from "#core/storage/settings/directory.ts";
import { type Concluded, type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { GuardedClient } from "../net/guarded/client.ts";
import { repeatWrite } from "../work/repeat-write.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { observe } from "./health/observe.ts";
import { sideParts } from "./health/part.ts";
import { endpointStats } from "./health/stats.ts";
import { recoverPage } from "./history/recover.ts";
import { grouping } from "./match/group.ts";
import { matchEvents } from "./match/match.ts";
import { sendWebhook } from "./send/send.ts";
import { type EndpointQueues, type EndpointQueuesDeps, endpointQueues } from "./share/endpoint-queues.ts";
import { endpointHint, eventBatch } from "./share/hints.ts";
import { holderNotices } from "./share/holder-notices.ts";
import { makeDue } from "./share/make-due.ts";

export type WebhookPartsDeps = {
  db: Mongo["db"];
  nats: Nats;
  publisher: Publisher;
  subjects: Subjects;
  natsPrefix: string;
  natsReplicas: number;
  directory: Pick<Directory, "webhooksOf">;
  suspensions: Suspensions;
  changes: Changes;
  announcer: Announcer;
  client: GuardedClient;
  unseal: KeyRing["open"];
  holder: string;
  /** The server that takes mails to owners; null: nobody is mailed. */
  mail: { url: string; from: string } | null;
  metrics: Metrics<"dispatcher">;
  log: Log;
  clock: Clock;
  random: Random;
};

/** Event batches in hand: one waits while its events are grouped, or while an endpoint hangs for the first time. */
const matchersAtOnce = 128;
const hintsAtOnce = 64;
/** Longer than what holds up an event batch: a second in memory, then a write. */
const handleTimeoutMs = 60_000;
/** Longer than any outage that a program should outlive: what was sent and cannot be stored would be sent again. */
const storeForMs = 600_000;

/** What a dispatcher runs for webhooks: in the order in which they start. */
export const webhookParts = (deps: WebhookPartsDeps): { parts: Part[]; timer: AnyTimerSource } => {
  const { publisher, subjects } = deps;
  const publishHint = (endpointId: string): Promise<unknown> =>
    publisher.publish(subjects.webhook(endpointId), { endpoint_id: endpointId });
  const { held, parts } = serving(deps, publishHint);
  const timer = timerSource<WebhookRow>({
    name: "webhooks",
    collection: webhookWork(deps.db).rows,
    select: [],
    ring: ({ _id }) => publishHint(_id),
  });
  return { parts: [...parts, ...workers(deps, held)], timer };
};

/** The endpoint queues and what they need. */
const serving = (
  deps: WebhookPartsDeps,
  publishHint: EndpointQueuesDeps["publishHint"],
): { held: EndpointQueues; parts: Part[] } => {
  const { nats, subjects, log, clock } = deps;
  const endpoints = webhookWork(deps.db);
  const deliveries = webhookDeliveries(deps.db);
  const templates = bodyTemplates();
  const send = sendWebhook({ ...deps, templates });
  const stats = endpointStats({ rows: webhookStats(deps.db), log });
  const notices = holderNotices({ nats, subject: subjects.newDeliveries(), onNotice: (id) => held.nudge(id) });
  const held: EndpointQueues = endpointQueues({
    ...deps,
    ...writers(deliveries),
    endpoints,
    deliveries,
    publishHint,
    notifyHolder: notices.notify,
    makeDue: (id) => makeDue({ endpoints, publishHint, clock }, id),
    send,
    recover: (row) => recoverPage({ db: deps.db, clock }, row),
    announce: ({ _id, app_id: appId }) => deps.announcer.changed(webhookCollection.name, _id, appId),
    observe: observe({ ...deps, stats }),
  });
  deps.changes.on((collection, id) => {
    if (collection === webhookCollection.name || collection === "*") held.refresh(id);
  });
  return { held, parts: [templates, stats, notices.part, held, ...sideParts({ ...deps, publishHint, send }, held)] };
};

/** What brings endpoint queues their work. */
const workers = (deps: WebhookPartsDeps, held: EndpointQueues): Part[] => {
  const { db, nats, natsPrefix, natsReplicas, directory, metrics, log, clock } = deps;
  const common = { nats, timeoutMs: handleTimeoutMs, log, metrics: metrics.queue };
  const [events, hints] = [eventStream(natsPrefix), webhookStream(natsPrefix)];
  return [
    worker({
      ...common,
      name: "webhook events",
      stream: events.stream.name,
      repair: () => ensureStream(nats.jsm, events, natsReplicas),
      consumer: "webhooks",
      concurrency: matchersAtOnce,
      parse: eventBatch,
      handle: matchEvents({
        webhooksOf: directory.webhooksOf,
        known: webhookDeliveries(db).known,
        share: held.share,
        group: grouping({ share: held.share, grouped: webhookDeliveries(db).grouped, clock }),
        clock,
      }),
    }),
    worker({
      ...common,
      name: "webhook hints",
      stream: hints.stream.name,
      repair: () => ensureStream(nats.jsm, hints, natsReplicas),
      consumer: "doorbells",
      concurrency: hintsAtOnce,
      parse: endpointHint,
      handle: ({ endpoint_id }) => held.answer(endpoint_id),
    }),
  ];
};

/** What was sent is stored a moment later, with more of it: a command costs as much as ten deliveries in it. */
const shared = { inFlight: 2, lingerMs: 20, isOfOne };

/** Writes of deliveries: those that come while others are being written share a command. */
const writers = (deliveries: ReturnType<typeof webhookDeliveries>) => ({
  keep: gather<WebhookDeliveryRow, void>({ write: voids(deliveries.keep), most: 500, ...shared }),
  record: gather<Concluded, void>({ write: voids(deliveries.record), most: 100, ...shared }),
});

const voids =
  <T>(write: (items: readonly T[]) => Promise<void>) =>
  async (items: readonly T[]): Promise<void[]> => {
    await repeatWrite(storeForMs, () => write(items));
    return items.map(() => undefined);
  };
