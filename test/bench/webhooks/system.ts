import type { System } from "../../support/system/system.ts";
import { type Programs, startPrograms } from "../programs.ts";
import type { Round, Stores } from "../servers.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";

/** An installation with stores of its own, so that all their CPU is its, and a receiver. */
export type WebhookBench = Programs & { system: System; stores: Stores; sink: WebhookSink };

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
        const programs = await startPrograms({ system, stores }, dispatcherCount);
        return await run({ ...programs, system, stores, sink }, prepared);
      } finally {
        sink.stop();
      }
    },
    { durable: true },
  );
