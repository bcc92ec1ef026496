import { AckPolicy, DiscardPolicy, RetentionPolicy } from "@nats-io/jetstream";
import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import type { StreamSpec } from "#core/queue/jetstream/topology.ts";
import { type WorkerOptions, worker } from "#core/queue/jetstream/worker.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog, type Log } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { testServers } from "../../../support/servers/servers.ts";

export type Line = { event: string; level: string } & Record<string, unknown>;

/** A log whose lines a test can read. */
export const keptLog = (): { log: Log; lines: Line[] } => {
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  return { log: createLog({ program: "test", level: "info", destination: { write } }), lines };
};

export const testMetrics = () => createMetrics("dispatcher");

/** A work queue of one consumer under a prefix of its own, limited to `perSubject` messages a subject. */
export const aQueue = (prefix: string, { ackWaitMs = 5_000, perSubject = 100_000 } = {}): StreamSpec => ({
  stream: {
    name: prefix,
    subjects: [`${prefix}.>`],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: perSubject,
    duplicate_window: 120_000_000_000,
  },
  consumers: [
    {
      durable_name: "work",
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * 1e6,
      max_deliver: -1,
      max_ack_pending: 1_000,
    },
  ],
});

/** A connection with a fresh stream. */
export const openQueue = async (url: string, spec: StreamSpec): Promise<Nats> => {
  const nats = await connectNats({ url, name: "test" });
  await nats.jsm.streams.delete(spec.stream.name).catch(() => false);
  await ensureStream(nats.jsm, spec);
  return nats;
};

/** A queue of the suite's own, and a worker on it; both go with the suite. */
export const queueOfSuite = (name: string) => {
  let nats: Nats;
  let part: Part | undefined;
  before(async () => {
    nats = await openQueue((await testServers()).natsUrl, aQueue(name));
  });
  after(async () => {
    await part?.stop(AbortSignal.timeout(100));
    await nats.jsm.streams.delete(name);
    await nats.close();
  });
  return {
    publish: async (body: object, of = "a"): Promise<void> =>
      void (await publisher(nats).publish(`${name}.${of}`, body)),
    startWorker: async <T>(
      options: Pick<WorkerOptions<T>, "parse" | "handle"> & Partial<WorkerOptions<T>>,
    ): Promise<void> => {
      const usual = { stream: name, consumer: "work", concurrency: 8, timeoutMs: 5_000, name: "test worker" };
      part = worker<T>({
        nats,
        tracer: noTracer,
        timing: timings.usual,
        ...usual,
        log: keptLog().log,
        metrics: testMetrics().queue,
        ...options,
      });
      await part.start(new AbortController().signal);
    },
  };
};
