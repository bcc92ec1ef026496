import type { Timing } from "#core/domain/timing.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { watchWebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { Changes, Directory } from "#core/storage/directory.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import { webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookShares } from "#core/storage/webhooks/shares.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { backlogCount } from "../usage/backlog-count.ts";
import type { Peers } from "../work/peers.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { accepting } from "./accept/accept.ts";
import { healthNotes } from "./health/notes.ts";
import { observe } from "./health/observe.ts";
import { type HealthPartDeps, healthPart } from "./health/part.ts";
import { requestLog } from "./health/request-log.ts";
import { endpointStats } from "./health/stats.ts";
import { type Deliveries, storedDeliveries } from "./history/deliveries.ts";
import { deliverByOwner } from "./match/by-owner.ts";
import { eventBatch } from "./match/event-batch.ts";
import { type HandOver, handingOver, takingOver } from "./match/hand-over.ts";
import { matchEvents } from "./match/match.ts";
import { EndpointQueues, type EndpointQueuesDeps } from "./queues/endpoint-queues.ts";
import { prepare, type Unseal } from "./send/prepare.ts";
import { type SendDeps, sendWebhook } from "./send/send.ts";
import { type Endpoints, type EndpointsDeps, endpointWork, tableNotices } from "./shares/endpoints.ts";
import { Shares, type SharesDeps } from "./shares/shares.ts";
import { type Walks, walks as walksOf } from "./shares/walks.ts";
import { testRequests } from "./test-requests.ts";

/** What webhooks use of the program; `natsPrefix` names its streams. */
export type WebhookPartsDeps = Omit<EndpointsDeps & SendDeps & HealthPartDeps, "templates" | "endpoints" | "isOurs"> & {
  holder: string;
} & {
  nats: Nats;
  subjects: Subjects;
  natsPrefix: string;
  natsReplicas: number;
  timing: Timing;
  directory: Pick<Directory, "webhooksOf">;
  suspensions: Suspensions;
  changes: Changes;
  unseal: Unseal;
  countUsage: CountUsage;
  /** Another dispatcher has been silent for some seconds, and may be gone; called again as long as it is. */
  onSilent: (holder: string) => void;
  peers: Pick<Peers, "are">;
};

/** What a dispatcher runs for webhooks, in the order in which it starts. docs/decisions/0047 names the steps of an event. */
export const webhookParts = (deps: WebhookPartsDeps): Part[] => {
  const { db, log, metrics } = deps;
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
  const onSilent = (holder: string): void => {
    handOver.giveUp(holder);
    deps.onSilent(holder);
  };
  const { shares, queues, walks } = owned({ ...deps, endpoints, deliveries, requests, health, notes, onSilent });
  const accept = accepting({ ...deps, deliveries, queues });
  const handOver: HandOver = handingOver({
    ...deps,
    shares,
    handedOver: (count) => metrics.webhookHandedOver.inc(count),
  });
  const fallBack = (count: number): void => metrics.webhookFallbacks.inc(count);
  return [
    templates,
    attempts,
    stats,
    notes,
    queues,
    takingOver({ ...deps, shares, accept }), // before it owns anything, and until it owns nothing any more
    shares,
    walks,
    testRequests({
      ...deps,
      requests,
      subject: deps.subjects.webhookTests(),
      find: (id) => endpoints.rows.findOne({ _id: id }),
      deliveries: webhookDeliveries(db),
    }),
    healthPart({ ...deps, endpoints, isOurs: () => shares.isOwned(0) }),
    backlogCount({ ...deps, backlogs: webhookBacklogs(db), isOurs: () => shares.isOwned(0) }),
    eventWorker(deps, deliverByOwner({ ...deps, shares, accept, handOver: handOver.give, fallBack })),
  ];
};

type OwnedDeps = WebhookPartsDeps &
  Pick<SharesDeps, "onSilent"> &
  Omit<EndpointQueuesDeps, "shares" | "deferred"> & { endpoints: Endpoints; deliveries: Deliveries };

/** The endpoints of this process: which they are, their queues, and what waits for them. */
const owned = (deps: OwnedDeps): { shares: Shares; queues: EndpointQueues; walks: Walks } => {
  const { db, metrics, changes, suspensions } = deps;
  const shares: Shares = new Shares({
    ...deps,
    table: webhookShares(db),
    changed: tableNotices(deps),
    onMembers: deps.peers.are,
    onTaken: (share) => walks.add(share),
    onLost: (share) => queues.lose(share),
    drain: (share) => queues.drain(share),
  });
  const deferred = (reason: "full" | "slow", count: number): void => metrics.webhookDeferred.inc({ reason }, count);
  const queues: EndpointQueues = new EndpointQueues({ ...deps, shares, deferred });
  const walks = walksOf({ ...deps, shares, found: (id, dueAt) => queues.expect(id, dueAt.getTime()) });
  suspensions.onResume(walks.addAll);
  changes.on((collection, id) => {
    if (collection === webhookCollection.name || collection === "*") queues.refresh(id);
    if (collection === "*") walks.addAll();
  });
  watchWebhookLevels(metrics.registry, {
    endpointQueues: () => queues.size,
    inFlight: () => queues.underWay,
    shares: () => shares.owned().length,
  });
  return { shares, queues, walks };
};

/**
 * A batch of events waits until all is stored, while its events are grouped, or while an endpoint hangs for the first
 * time. Many are small; large ones take the places of several, as some 60 are enough to keep a dispatcher busy.
 */
const batches = { atOnce: 512, bytesOfPlace: 8_192 };
/** Longer than a batch of events waits: two owners are asked, then it is stored. */
const handleTimeoutMs = 90_000;

const eventWorker = (deps: WebhookPartsDeps, deliver: ReturnType<typeof deliverByOwner>): Part => {
  const { nats, natsPrefix, natsReplicas, timing, metrics, log } = deps;
  const spec = eventStream(natsPrefix, timing);
  return worker({
    nats,
    timing,
    timeoutMs: handleTimeoutMs,
    log,
    tracer: deps.tracer,
    metrics: metrics.queue,
    stream: spec.stream.name,
    repair: () => ensureStream(nats.jsm, spec, natsReplicas),
    name: "webhook events",
    consumer: "webhooks",
    concurrency: batches.atOnce,
    bytesOfPlace: batches.bytesOfPlace,
    parse: eventBatch,
    handle: matchEvents({ ...deps, deliver }),
  });
};
