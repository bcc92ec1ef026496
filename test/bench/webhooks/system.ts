import type { System, SystemProgram } from "../../support/system/system.ts";
import { type Cpu, cpuMeter } from "../cpu.ts";
import { startDispatchers } from "../dispatchers.ts";
import type { Round } from "../servers.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";

/** An installation with stores of its own, so that all their CPU is its, and a receiver. */
export type WebhookBench = {
  system: System;
  apiserver: SystemProgram;
  dispatchers: readonly SystemProgram[];
  sink: WebhookSink;
  /** CPU so far of the programs and stores. */
  cpuUs: () => Cpu;
};

/** Runs one measurement on a new installation with some dispatchers. `prepare` comes before the programs start. */
export const onWebhookBench = <P, T>(
  { withInstallation }: Round,
  prepare: (made: Pick<WebhookBench, "system" | "sink">) => Promise<P>,
  run: (bench: WebhookBench, prepared: P) => Promise<T>,
  dispatcherCount = 1,
): Promise<T> =>
  withInstallation(
    async ({ system, stores }) => {
      const sink = await startWebhookSink();
      try {
        const prepared = await prepare({ system, sink });
        const starting = [system.start("apiserver"), startDispatchers(system, dispatcherCount)] as const;
        const [apiserver, dispatchers] = await Promise.all(starting);
        const cpuUs = cpuMeter(stores, { apiserver: [apiserver], dispatcher: dispatchers });
        return await run({ system, apiserver, dispatchers, sink, cpuUs }, prepared);
      } finally {
        sink.stop();
      }
    },
    { durable: true },
  );
