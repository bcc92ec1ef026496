import type { Timing } from "#core/domain/timing.ts";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { isAway } from "#core/queue/jetstream/publish.ts";
import { type Ensured, ensureStream } from "#core/queue/jetstream/streams.ts";
import { sharedStreams } from "#core/queue/jetstream/topology.ts";
import { untilReached } from "#core/runtime/process/awaited.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type StreamsDeps = {
  /** Each makes one stream what its source says. */
  ensure: readonly (() => Promise<Ensured>)[];
  everyMs?: number;
  log: Log;
};

const drainMs = 5_000;

export type SharedStreamsDeps = {
  nats: Pick<Nats, "jsm">;
  config: { natsPrefix: string; natsReplicas: number };
  timing: Pick<Timing, "ackWaitMs">;
  partitioning: Partitioning;
  log: Log;
};

/** Makes the streams that all tenants share, as the operator does, which makes those of plans. */
export const streams = ({ nats, config, timing, partitioning, log }: SharedStreamsDeps): Part => {
  const specs = sharedStreams(config.natsPrefix, timing, partitioning);
  return streamsPart({ ensure: specs.map((spec) => () => ensureStream(nats.jsm, spec, config.natsReplicas)), log });
};

/**
 * Makes streams before anything uses them. A stream that has more messages of a subject than its source allows, as after
 * an upgrade, is looked at again until it has drained: no message is dropped.
 */
export const streamsPart = ({ ensure, everyMs = drainMs, log }: StreamsDeps): Part => {
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const lookAgain = (draining: StreamsDeps["ensure"]): void => {
    if (draining.length === 0) return;
    timer = setTimeout(() => {
      looking = drainingOf(draining).then(lookAgain, (err: unknown) => {
        log.warn({ err }, "streams.not_lowered");
        lookAgain(draining);
      });
    }, everyMs);
  };
  return {
    name: "streams",
    start: async (signal) => {
      const jetstream = { store: "jetstream", isAway, log };
      lookAgain(await untilReached(() => drainingOf(ensure), jetstream, signal));
    },
    stop: async () => {
      clearTimeout(timer);
      await looking;
      clearTimeout(timer); // set meanwhile
    },
  };
};

const drainingOf = async (ensure: StreamsDeps["ensure"]): Promise<StreamsDeps["ensure"]> => {
  const draining: (() => Promise<Ensured>)[] = [];
  for (const one of ensure) if ((await one()) === "draining") draining.push(one);
  return draining;
};
