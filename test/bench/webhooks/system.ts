import type { System, SystemProgram } from "../../support/system/system.ts";
import { treeCpuUs } from "../process-usage.ts";
import type { Round, Stores } from "../servers.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";

/** By program and store, µs. */
export type Cpu = Record<string, number>;

/** An installation with stores of its own, so that all their CPU is its, and a receiver. */
export type WebhookBench = {
  system: System;
  apiserver: SystemProgram;
  dispatcher: SystemProgram;
  sink: WebhookSink;
  /** CPU so far of each program and store, µs. */
  cpuUs: () => Cpu;
};

/** Runs one measurement on a new installation. `prepare` comes before the programs start. */
export const onWebhookBench = <P, T>(
  { withInstallation }: Round,
  prepare: (made: Pick<WebhookBench, "system" | "sink">) => Promise<P>,
  run: (bench: WebhookBench, prepared: P) => Promise<T>,
): Promise<T> =>
  withInstallation(
    async ({ system, stores }) => {
      const sink = await startWebhookSink();
      try {
        const prepared = await prepare({ system, sink });
        const [apiserver, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
        const programs = { apiserver: apiserver.pid(), dispatcher: dispatcher.pid() };
        const pids = { ...programs, ...pidsOf(stores) };
        const cpuUs = (): Cpu => mapValues(pids, (pid) => (pid === undefined ? 0 : treeCpuUs(pid)));
        return await run({ system, apiserver, dispatcher, sink, cpuUs }, prepared);
      } finally {
        sink.stop();
      }
    },
    { durable: true },
  );

const pidsOf = ({ mongodb, nats, redis }: Stores) => {
  const [ferretdb, postgres] = mongodb.pids();
  const [[jetstream], [redisServer]] = [nats.pids(), redis.pids()];
  return { ferretdb, postgres, nats: jetstream, redis: redisServer };
};

/** What was used since `before`, for each of `count` things. */
export const cpuOfEach = (before: Cpu, now: Cpu, count: number): Cpu & { all: number } => {
  const each = mapValues(now, (us, name) => (us - (before[name] ?? 0)) / count);
  return { all: Object.values(each).reduce((sum, us) => sum + us, 0), ...each };
};

const mapValues = <V>(record: Readonly<Record<string, V>>, map: (value: V, name: string) => number): Cpu =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
