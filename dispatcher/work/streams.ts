import { isAway } from "#core/queue/jetstream/publish.ts";
import { type Ensured, ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, webhookStream } from "#core/queue/jetstream/topology.ts";
import { untilReached } from "#core/runtime/process/awaited.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Made } from "../parts.ts";

export type StreamsDeps = {
  /** Makes the streams what their source says, each by one call. */
  ensure: readonly (() => Promise<Ensured>)[];
  everyMs?: number;
  log: Log;
};

const drainMs = 5_000;

/** The streams that all tenants share; those of plans are the operator's. */
export const streams = ({ nats, config, log }: Pick<Made, "nats" | "config" | "log">): Part => {
  const specs = [eventStream(config.natsPrefix), webhookStream(config.natsPrefix)];
  return streamsPart({ ensure: specs.map((spec) => () => ensureStream(nats.jsm, spec, config.natsReplicas)), log });
};

/**
 * Makes the streams of all tenants before anything uses them. One that holds more of a subject than its source allows, as
 * after an upgrade, is looked at again until it does not: nothing of it is dropped.
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
