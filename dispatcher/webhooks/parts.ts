import type { Nats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, type StreamSpec, webhookStream } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { watchWebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { Changes, Directory } from "#core/storage/directory.ts";
import { webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { observe } from "./health/observe.ts";
import { type HealthPartDeps, healthPart } from "./health/part.ts";
import { endpointStats } from "./health/stats.ts";
import { type Deliveries, storedDeliveries } from "./history/deliveries.ts";
import { eventBatch } from "./match/event-batch.ts";
import { grouping } from "./match/group.ts";
import { matchEvents } from "./match/match.ts";
import { prepare, type Unseal } from "./send/prepare.ts";
import { type SendDeps, sendWebhook } from "./send/send.ts";
import { type EndpointQueues, endpointQueues } from "./share/endpoint-queues.ts";
import { type EndpointsDeps, endpointWork } from "./share/endpoints.ts";
import { endpointHint } from "./share/hints.ts";
import { testRequests } from "./test-requests.ts";

/** What webhooks use of the program; `natsPrefix` names its streams. */
export type WebhookPartsDeps = Omit<EndpointsDeps & SendDeps & HealthPartDeps, "templates" | "endpoints"> & {
  nats: Nats;
  subjects: Subjects;
  natsPrefix: string;
  natsReplicas: number;
  directory: Pick<Directory, "webhooksOf">;
  suspensions: Suspensions;
  changes: Changes;
  unseal: Unseal;
};

/** What a dispatcher runs for webhooks, in the order in which it starts. docs/decisions/0041 names the steps of an event. */
export const webhookParts = (deps: WebhookPartsDeps): { parts: Part[]; timers: AnyTimerSource[] } => {
  const { db, metrics, changes } = deps;
  const endpoints = endpointWork(deps);
  const deliveries = storedDeliveries(deps);
  const templates = bodyTemplates();
  const requests = {
    prepare: (row: WebhookRow) => prepare(row, deps.unseal),
    send: sendWebhook({ ...deps, templates }),
  };
  const stats = endpointStats({ rows: webhookStats(db), log: deps.log });
  const health = { observe: observe({ ...deps, stats }) };
  const queues = endpointQueues({ ...deps, endpoints, deliveries, requests, health });
  changes.on((collection, id) => {
    if (collection === webhookCollection.name || collection === "*") queues.refresh(id);
  });
  watchWebhookLevels(metrics.registry, queues.levels);
  return {
    parts: [
      templates,
      stats,
      queues,
      testRequests({
        ...deps,
        requests,
        subject: deps.subjects.webhookTests(),
        find: (id) => endpoints.rows.findOne({ _id: id }),
        keep: (row) => webhookDeliveries(db).keep([row]),
      }),
      healthPart({ ...deps, endpoints }),
      ...workers(deps, deliveries, queues),
    ],
    timers: [
      timerSource<WebhookRow>({
        name: "webhooks",
        collection: endpoints.rows,
        select: [],
        handle: ({ _id }) => endpoints.publishHint(_id),
      }),
    ],
  };
};

/** A batch of events waits while its events are grouped, or while an endpoint hangs for the first time. */
const batchesAtOnce = 128;
const hintsAtOnce = 64;
/** Longer than a batch of events waits: a second in memory, then a write. */
const handleTimeoutMs = 60_000;

/** What gives endpoint queues their work: events, and hints that something is due. */
const workers = (deps: WebhookPartsDeps, deliveries: Deliveries, queues: EndpointQueues): Part[] => {
  const { nats, natsPrefix, natsReplicas, metrics, log } = deps;
  const on = (spec: StreamSpec) => ({
    nats,
    timeoutMs: handleTimeoutMs,
    log,
    metrics: metrics.queue,
    stream: spec.stream.name,
    repair: () => ensureStream(nats.jsm, spec, natsReplicas),
  });
  const group = grouping({ ...deps, deliveries, queues });
  return [
    worker({
      ...on(eventStream(natsPrefix)),
      name: "webhook events",
      consumer: "webhooks",
      concurrency: batchesAtOnce,
      parse: eventBatch,
      handle: matchEvents({ ...deps, deliveries, queues, group }),
    }),
    worker({
      ...on(webhookStream(natsPrefix)),
      name: "webhook hints",
      consumer: "doorbells",
      concurrency: hintsAtOnce,
      parse: endpointHint,
      handle: ({ endpoint_id }) => queues.answer(endpoint_id),
    }),
  ];
};
