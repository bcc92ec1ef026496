import type { Timing } from "#core/domain/timing.ts";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import { callbackQueue } from "#core/queue/callbacks.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, formerEventStream, type StreamSpec } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { events as eventStore } from "#core/storage/events/events.ts";
import { keptApps } from "#core/storage/events/retention.ts";
import { namedLease } from "#core/storage/work/leases.ts";
import { eventBatch } from "../webhooks/match/event-batch.ts";
import { removalOfApps } from "../work/kept-apps.ts";
import { inHand, type RecordDeps, recordEvents } from "./record.ts";
import { keptEvents } from "./retention.ts";

export type EventPartsDeps = Omit<RecordDeps, "callbacks" | "metrics"> & {
  nats: Nats;
  publisher: Publisher;
  subjects: Subjects;
  config: { natsPrefix: string; natsReplicas: number };
  holder: string;
  timing: Timing;
  partitioning: Partitioning;
  metrics: Metrics<"dispatcher">;
  tracer: Tracer;
  log: Log;
};

const timeoutMs = 60_000;
const leaseMs = 600_000; // longer than a page of removals takes

/** What a dispatcher runs for custom events. Source: docs/decisions/0070. */
export const eventParts = (deps: EventPartsDeps): Part[] => {
  const handle = recordEvents({ ...deps, callbacks: callbackQueue(deps) });
  const { config, timing, partitioning } = deps;
  const specs = [eventStream(config.natsPrefix, timing, partitioning), formerEventStream(config.natsPrefix, timing)];
  return [...specs.map((spec) => eventWorker(deps, spec, handle)), retentionPart(deps)];
};

const eventWorker = (deps: EventPartsDeps, spec: StreamSpec, handle: ReturnType<typeof recordEvents>): Part => {
  const { nats, config, timing, metrics, log } = deps;
  return worker({
    name: "custom events",
    nats,
    stream: spec.stream.name,
    consumer: "custom-events",
    concurrency: inHand.places,
    bytesOfPlace: inHand.bytesOfPlace,
    timeoutMs,
    timing,
    repair: () => ensureStream(nats.jsm, spec, config.natsReplicas),
    parse: eventBatch,
    handle,
    log,
    tracer: deps.tracer,
    metrics: metrics.queue,
  });
};

const retentionPart = ({ db, holder, clock, log, metrics }: EventPartsDeps): Part => {
  const lease = namedLease(db, { name: "event retention", holder, leaseMs, clock });
  const { nextName, removeOlder } = eventStore(db);
  const { find } = eventDefinitions(db);
  const things = keptEvents({
    nextName,
    daysOf: async (app, name) => (await find(app, name))?.retention_days ?? null,
    removeOlder,
  });
  const isOurs = async () => (await lease.extend()) || (await lease.take()) !== null;
  const setAside = countAside(metrics.queue, "event-retention");
  return removalOfApps({ appsAfter: keptApps(db), isOurs, setAside, clock, log }, things);
};
