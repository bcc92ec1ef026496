import { makeCredentials } from "../../dev/simulators/credentials.ts";
import { privateServers } from "../support/servers.ts";
import { type System, type SystemProgram, startSystem } from "../support/system.ts";
import { loopbackAllowed } from "../support/webhook-traffic.ts";
import { treeCpuUs } from "./process-usage.ts";
import { startWebhookSink, type WebhookSink } from "./webhook-sink.ts";

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
export const onWebhookBench = async <P, T>(
  prepare: (made: Pick<WebhookBench, "system" | "sink">) => Promise<P>,
  run: (bench: WebhookBench, prepared: P) => Promise<T>,
): Promise<T> => {
  const servers = await privateServers({ mongodb: true, nats: true, redis: true }, { durable: true });
  const { mongodb, nats, redis } = servers;
  const sink = await startWebhookSink();
  const system = await startSystem({
    mongodbUrl: mongodb.url,
    natsUrl: nats.url,
    redisUrl: redis.url,
    apns: { url: "https://127.0.0.1:9", credentials: makeCredentials() }, // nothing is pushed
    plan: { api_rps: 100_000 },
    env: loopbackAllowed,
  });
  try {
    const prepared = await prepare({ system, sink });
    const [apiserver, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    const [ferretdb, postgres] = mongodb.pids();
    const [jetstream, redisServer] = [nats.pids()[0], redis.pids()[0]];
    const pids = { ferretdb, postgres, nats: jetstream, redis: redisServer };
    const programs = { apiserver: apiserver.pid(), dispatcher: dispatcher.pid() };
    const cpuUs = (): Cpu => mapValues({ ...programs, ...pids }, (pid) => (pid === undefined ? 0 : treeCpuUs(pid)));
    return await run({ system, apiserver, dispatcher, sink, cpuUs }, prepared);
  } finally {
    await system.stop();
    sink.stop();
    await servers.close();
  }
};

/** What was used since `before`, for each of `count` things. */
export const cpuOfEach = (before: Cpu, now: Cpu, count: number): Cpu & { all: number } => {
  const each = mapValues(now, (us, name) => (us - (before[name] ?? 0)) / count);
  return { all: Object.values(each).reduce((sum, us) => sum + us, 0), ...each };
};

const mapValues = <V>(record: Record<string, V>, map: (value: V, name: string) => number): Cpu =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
