import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Credentials, makeCredentials } from "../../dev/simulators/kit/credentials.ts";
import type { ReceivedCounts } from "../../dev/simulators/kit/received.ts";
import type { SinkSettings } from "./messages/push-sink.ts";

/** A provider's simulator in a process of its own, so that its work is not counted as ours. */
export type Sink = {
  url: string;
  credentials: Credentials;
  pid: number;
  counts: () => Promise<ReceivedCounts>;
  stop: () => void;
};

/** Starts it: that of APNs, with credentials of its own, when left out. `delayMs` is the time until it answers a push. */
export const startSink = async ({
  provider = "apns",
  delayMs = 0,
  credentials = makeCredentials(),
}: Partial<SinkSettings> = {}): Promise<Sink> => {
  const child = fork(join(import.meta.dirname, "messages/push-sink.ts"));
  child.send({ provider, credentials, delayMs } satisfies SinkSettings);
  const [{ url }] = (await once(child, "message")) as [{ url: string }]; // what push-sink.ts answers first
  return {
    url,
    credentials,
    pid: child.pid ?? 0,
    counts: async () => {
      child.send("counts");
      const [counts] = (await once(child, "message")) as [ReceivedCounts]; // what push-sink.ts answers from then on
      return counts;
    },
    stop: () => child.disconnect(),
  };
};
