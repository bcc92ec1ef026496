import { makeCredentials } from "../../dev/simulators/credentials.ts";
import { privateServers } from "../support/servers.ts";
import { type System, type SystemProgram, startSystem } from "../support/system.ts";
import { loopbackAllowed } from "../support/webhook-traffic.ts";
import { treeCpuUs } from "./process-usage.ts";
import { startWebhookSink, type WebhookSink } from "./webhook-sink.ts";

/** An installation with stores of its own, so that all their CPU is its, and a receiver. */
export type WebhookBench = {
  system: System;
  apiserver: SystemProgram;
  dispatcher: SystemProgram;
  sink: WebhookSink;
  /** CPU so far of the programs and the stores, µs. */
  cpuUs: () => number;
};

/** Runs one measurement on a new installation. `prepare` comes before the programs start. */
export const onWebhookBench = async <P, T>(
  prepare: (made: Pick<WebhookBench, "system" | "sink">) => Promise<P>,
  run: (bench: WebhookBench, prepared: P) => Promise<T>,
): Promise<T> => {
  const servers = await privateServers({ mongodb: true, nats: true, redis: true });
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
    const pids = () =>
      [mongodb, nats, redis].flatMap((server) => server.pids()).concat(apiserver.pid(), dispatcher.pid());
    const cpuUs = (): number => pids().reduce((sum, pid) => sum + treeCpuUs(pid), 0);
    return await run({ system, apiserver, dispatcher, sink, cpuUs }, prepared);
  } finally {
    await system.stop();
    sink.stop();
    await servers.close();
  }
};
