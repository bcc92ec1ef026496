import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/connect.ts";
import type { Publisher } from "#core/queue/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import { eventStream, webhookStream } from "#core/queue/topology.ts";
import { worker } from "#core/queue/worker.ts";
import type { KeyRing } from "#core/runtime/key-ring.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { Log } from "#core/runtime/log.ts";
import type { Metrics } from "#core/runtime/metrics.ts";
import type { Mongo } from "#core/storage/connect.ts";
import type { Directory } from "#core/storage/directory.ts";
import { webhookDeliveries } from "#core/storage/webhook-deliveries.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks.ts";
import type { GuardedClient } from "../guarded-request.ts";
import { serveEndpoint } from "./endpoint.ts";
import { doorbell, eventBatch } from "./hints.ts";
import { matchEvents } from "./match.ts";
import { sendWebhook } from "./send.ts";

export type WebhookPartsDeps = {
  db: Mongo["db"];
  nats: Nats;
  publisher: Publisher;
  subjects: Subjects;
  natsPrefix: string;
  directory: Pick<Directory, "webhooksOf">;
  announcer: Announcer;
  client: GuardedClient;
  unseal: KeyRing["open"];
  holder: string;
  /** Aborts when the program is to stop. */
  stopping: AbortSignal;
  metrics: Metrics<"dispatcher">;
  log: Log;
  clock: Clock;
  random: Random;
};

/** Event batches that are matched at the same time: each is two writes. */
const matchersAtOnce = 16;
/** Endpoints that are served at the same time. One that hangs holds its own place for a turn, and no other's. */
const endpointsAtOnce = 256;
/** Longer than a turn and the request that ends it. */
const handleTimeoutMs = 60_000;

/** What a dispatcher runs for webhooks: the workers, and the timer that calls for retries. */
export const webhookParts = (deps: WebhookPartsDeps): { workers: Part[]; timer: AnyTimerSource } => {
  const { nats, natsPrefix, publisher, subjects, log, clock } = deps;
  const endpoints = webhookWork(deps.db);
  const deliveries = webhookDeliveries(deps.db);
  const ring = (endpointId: string): Promise<unknown> =>
    publisher.publish(subjects.webhook(endpointId), { endpoint_id: endpointId });
  const common = { nats, timeoutMs: handleTimeoutMs, log, metrics: deps.metrics.queue };
  const match = matchEvents({
    ...endpoints,
    keep: deliveries.keep,
    ring,
    webhooksOf: deps.directory.webhooksOf,
    clock,
  });
  const serve = serveEndpoint({
    ...deps,
    endpoints,
    deliveries,
    ring,
    send: sendWebhook(deps),
    announce: (id) => deps.announcer.changed(webhookCollection.name, id),
  });
  return {
    workers: [
      worker({
        ...common,
        name: "webhook events",
        stream: eventStream(natsPrefix).stream.name,
        consumer: "webhooks",
        concurrency: matchersAtOnce,
        parse: eventBatch,
        handle: match,
      }),
      worker({
        ...common,
        name: "webhook doorbells",
        stream: webhookStream(natsPrefix).stream.name,
        consumer: "doorbells",
        concurrency: endpointsAtOnce,
        parse: doorbell,
        handle: ({ endpoint_id }) => serve(endpoint_id),
      }),
    ],
    timer: timerSource<WebhookRow>({
      name: "webhooks",
      collection: endpoints.rows,
      select: [],
      ring: ({ _id }) => ring(_id),
    }),
  };
};
