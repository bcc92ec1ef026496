import { isAway } from "#core/queue/publish.ts";
import type { Ensured } from "#core/queue/streams.ts";
import { untilReached } from "#core/runtime/awaited.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { Log } from "#core/runtime/log.ts";

export type StreamsDeps = {
  /** Makes the streams what their source says, each by one call. */
  ensure: readonly (() => Promise<Ensured>)[];
  everyMs?: number;
  log: Log;
};

const drainMs = 5_000;

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
