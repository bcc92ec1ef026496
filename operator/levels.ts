import type { Gauge, Registry } from "prom-client";
import { Unavailable } from "#core/errors.ts";
import type { StreamLevel } from "#core/queue/jetstream/stream-levels.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { metricsIn } from "#core/runtime/metrics/series.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import type { Stores } from "./engine/stores.ts";
import { readyIn } from "./policies/conditions.ts";

export type LevelsDeps = {
  stores: Pick<Stores, "byKind">;
  streams: () => Promise<StreamLevel[]>;
  /** How long a scrape waits for `streams`: everything else is to be seen also while JetStream does not answer. */
  streamsMs?: number;
};

/** Declares the gauges whose values are read with each scrape. */
export const watchLevels = (registry: Registry, { stores, streams, streamsMs = 1_500 }: LevelsDeps): void => {
  watchResources(registry, stores);
  watchStreams(registry, () => within(streamsMs, streams()));
};

const watchResources = (registry: Registry, { byKind }: LevelsDeps["stores"]): void =>
  metricsIn(registry).level(
    "herald_resources",
    "custom resources by kind and by their condition Ready (True, False: refused, Unknown: still trying)",
    (into) => {
      for (const [name, store] of byKind) {
        const kind = name.toLowerCase(); // as controllers are called
        for (const [ready, count] of Object.entries(tally(store.all()))) into.set({ kind, ready }, count);
      }
    },
    ["kind", "ready"],
  );

const tally = (objects: Iterable<Resource>): Record<Condition["status"], number> => {
  const counts = { True: 0, False: 0, Unknown: 0 };
  for (const object of objects) counts[readyIn(object)?.status ?? "Unknown"]++;
  return counts;
};

const watchStreams = (registry: Registry, streams: () => Promise<StreamLevel[]>): void => {
  const { level } = metricsIn(registry);
  const read = shared(streams);
  type Fill<L extends string> = (into: Gauge<L>, stream: StreamLevel) => void;
  const each = <L extends string>(name: string, help: string, labelNames: L[], fill: Fill<L>): void =>
    level(
      name,
      help,
      async (into) => {
        into.reset(); // no series for a stream that is gone, and none while JetStream is away
        for (const stream of await read().catch(() => [])) fill(into, stream);
      },
      labelNames,
    );
  each("herald_stream_messages", "messages in a JetStream stream", ["stream"], (into, { name, messages }) =>
    into.set({ stream: name }, messages),
  );
  each("herald_stream_bytes", "bytes in a JetStream stream", ["stream"], (into, { name, bytes }) =>
    into.set({ stream: name }, bytes),
  );
  each("herald_stream_bytes_limit", "bytes a stream may hold", ["stream"], (into, { name, bytesLimit }) =>
    into.set({ stream: name }, bytesLimit),
  );
  const pendingHelp = "messages of a stream that a consumer has not taken, or taken and not settled";
  each("herald_consumer_pending", pendingHelp, ["stream", "consumer"], (into, { name: stream, pending }) => {
    for (const { consumer, messages } of pending) into.set({ stream, consumer }, messages);
  });
};

/** @throws when it takes longer */
const within = <T>(ms: number, work: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Unavailable("JetStream")), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
};

/** The gauges of one scrape share one reading. */
const shared = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let underWay: Promise<T> | null = null;
  return () =>
    (underWay ??= read().finally(() => {
      underWay = null;
    }));
};
