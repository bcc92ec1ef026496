import type { Timing } from "#core/domain/timing.ts";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { sharedPlaces } from "#core/queue/jetstream/shared-places.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { tenantPlaces } from "#core/queue/jetstream/tenant-places.ts";
import { tenantTurns } from "#core/queue/jetstream/tenant-turns.ts";
import { eventStream, formerEventStream, type StreamSpec, webhookConsumer } from "#core/queue/jetstream/topology.ts";
import { type WorkerOptions, worker } from "#core/queue/jetstream/worker.ts";
import { type Subjects, tenantIn } from "#core/queue/subjects.ts";
import { watchWebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { Changes, Directory } from "#core/storage/directory.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import { webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { backlogCount } from "../usage/backlog-count.ts";
import type { Peers } from "../work/peers.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { type AcceptDeps, accepting } from "./accept/accept.ts";
import { healthNotes } from "./health/notes.ts";
import { observe } from "./health/observe.ts";
import { type HealthPartDeps, healthPart } from "./health/part.ts";
import { requestLog } from "./health/request-log.ts";
import { endpointStats } from "./health/stats.ts";
import { type Deliveries, storedDeliveries } from "./history/deliveries.ts";
import { eventBatch } from "./match/event-batch.ts";
import { type Match, matchEvents } from "./match/match.ts";
import { type Endpoints, type EndpointsDeps, endpointWork, tableNotices } from "./partitions/endpoints.ts";
import { Partitions } from "./partitions/partitions.ts";
import { type Readers, readers } from "./partitions/readers.ts";
import { type Walks, walks } from "./partitions/walks.ts";
import { EndpointQueues, type EndpointQueuesDeps } from "./queues/endpoint-queues.ts";
import { prepare, type Unseal } from "./send/prepare.ts";
import { type SendDeps, sendWebhook } from "./send/send-webhook.ts";
import { testRequests } from "./test-requests.ts";

/** What webhooks use of the program; `natsPrefix` names its streams. */
export type WebhookPartsDeps = Omit<
  EndpointsDeps & SendDeps & HealthPartDeps,
  "templates" | "endpoints" | "isOurs" | "isElsewhere"
> & {
  holder: string;
} & {
  nats: Nats;
  subjects: Subjects;
  natsPrefix: string;
  natsReplicas: number;
  partitioning: Partitioning;
  timing: Timing;
  directory: Pick<Directory, "webhooksOf" | "forgetWebhooksOf">;
  suspensions: Suspensions;
  changes: Changes;
  unseal: Unseal;
  countUsage: CountUsage;
  /** Another dispatcher has been silent for some seconds, and may be gone; called again as long as it is. */
  onSilent: (holder: string) => void;
  peers: Pick<Peers, "are">;
};

/** What a dispatcher runs for webhooks, in the order in which it starts. docs/decisions/0048 names the steps of an event. */
export const webhookParts = (deps: WebhookPartsDeps): Part[] => {
  const { db, log } = deps;
  const endpoints = endpointWork(deps);
  const deliveries = storedDeliveries(deps);
  const templates = bodyTemplates();
  const requests = {
    prepare: (row: WebhookRow) => prepare(row, deps.unseal),
    send: sendWebhook({ ...deps, templates }),
  };
  const attempts = requestLog(log);
  const stats = endpointStats({ rows: webhookStats(db), log });
  const notes = healthNotes({ endpoints, log });
  const health = { observe: observe({ ...deps, stats, requestLog: attempts }) };
  const { partitions, parts } = owned({ ...deps, endpoints, deliveries, requests, health, notes });
  const isOurs = (): boolean => partitions.isOwned(0);
  return [
    templates,
    attempts,
    stats,
    notes,
    ...parts,
    testRequests({
      ...deps,
      requests,
      subject: deps.subjects.webhookTests(),
      find: endpoints.find,
      deliveries: webhookDeliveries(db),
    }),
    healthPart({ ...deps, endpoints, isOurs, isElsewhere: () => partitions.isElsewhere(0) }),
    backlogCount({ ...deps, backlogs: webhookBacklogs(db), isOurs }),
  ];
};

type OwnedDeps = WebhookPartsDeps &
  Omit<EndpointQueuesDeps, "partitions" | "deferred" | "fellBack"> &
  Pick<AcceptDeps, "deliveries"> & { endpoints: Endpoints; deliveries: Deliveries };

/** The partitions of this process: which they are, who reads them, their endpoints' queues, and what waits for those. */
const owned = (deps: OwnedDeps): { partitions: Partitions; parts: Part[] } => {
  const { db, partitioning, metrics, changes, suspensions } = deps;
  const partitions: Partitions = new Partitions({
    ...deps,
    tables: webhookOwners(db, partitioning),
    changed: tableNotices(deps),
    onMembers: deps.peers.are,
    onTaken: (partition) => {
      reading.begin(partition);
      walking.addAll();
    },
    onLost: (partition) => {
      void reading.end(partition);
      queues.lose(partition);
    },
    drain: async (partition) => void (await Promise.all([reading.end(partition), queues.drain(partition)])),
  });
  const deferred = (reason: "full" | "slow", count: number): void => metrics.webhookDeferred.inc({ reason }, count);
  const fellBack = (): void => metrics.webhookFallbacks.inc();
  const queues: EndpointQueues = new EndpointQueues({ ...deps, partitions, deferred, fellBack });
  const changed = (endpointId: string): void => queues.refresh(endpointId);
  const match = matchEvents({ ...deps, changed, accept: accepting({ ...deps, queues }) });
  const reading: Readers = readers(partitionReader(deps, match));
  const walking: Walks = walks({ ...deps, partitions, found: (key, dueAt) => queues.expect(key, dueAt.getTime()) });
  suspensions.onResume(walking.addAll);
  changes.on((collection, id) => {
    if (collection === webhookCollection.name || collection === "*") queues.refresh(id);
    if (collection === "*") walking.addAll();
  });
  watchWebhookLevels(metrics.registry, {
    endpointQueues: () => queues.size,
    inFlight: () => queues.underWay,
    partitions: () => partitions.owned().length,
  });
  return { partitions, parts: [queues, reading, partitions, walking, formerReader(deps, match)] };
};

/**
 * A batch of events waits until all is stored, while its events are grouped, or while an endpoint hangs for the first
 * time. Many are small; large ones take the places of several, as some 60 are enough to keep a dispatcher busy.
 */
const batches = { atOnce: 1_024, ofPartition: 16, bytesOfPlace: 8_192 }; // a tenant has half of them at most
/** Longer than a batch of events waits until it is stored. */
const handleTimeoutMs = 90_000;

/** Makes what reads the events of one partition. */
const partitionReader = (deps: WebhookPartsDeps, match: Match): ((partition: number) => Part) => {
  const places = sharedPlaces({ most: batches.atOnce, own: batches.ofPartition });
  const tenants = tenantPlaces(batches.atOnce);
  const spec = eventStream(deps.natsPrefix, deps.timing, deps.partitioning);
  return (partition) => {
    const source = { spec, consumer: webhookConsumer(partition), handle: match(partition), places };
    return eventWorker(deps, { ...source, turns: tenantTurns(tenants, tenantIn) });
  };
};

/** Reads what programs of the last release publish. It goes with the next one. */
const formerReader = (deps: WebhookPartsDeps, match: Match): Part =>
  eventWorker(deps, { spec: formerEventStream(deps.natsPrefix, deps.timing), consumer: "webhooks", handle: match() });

type Source = Pick<WorkerOptions<unknown>, "consumer" | "places" | "turns"> & {
  spec: StreamSpec;
  handle: ReturnType<Match>;
};

const eventWorker = (deps: WebhookPartsDeps, { spec, ...source }: Source): Part => {
  const { nats, natsReplicas, timing, metrics, log } = deps;
  return worker({
    ...source,
    nats,
    timing,
    timeoutMs: handleTimeoutMs,
    log,
    tracer: deps.tracer,
    metrics: metrics.queue,
    stream: spec.stream.name,
    repair: () => ensureStream(nats.jsm, spec, natsReplicas),
    name: "webhook events",
    series: "webhooks",
    concurrency: batches.atOnce,
    bytesOfPlace: batches.bytesOfPlace,
    parse: eventBatch,
  });
};
