import { startApns } from "../../../dev/simulators/apns.ts";
import { startFcm } from "../../../dev/simulators/fcm.ts";
import { startHms } from "../../../dev/simulators/hms.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { startHttp2Server } from "../../../dev/simulators/kit/http2-server.ts";
import { receivedLog } from "../../../dev/simulators/kit/received.ts";
import { scripted } from "../../../dev/simulators/kit/script.ts";

export type SinkProvider = keyof typeof starters;

/** What the parent says first: whom to stand in for, whom to know, and how long to take for an answer. */
export type SinkSettings = { provider: SinkProvider; credentials: Credentials; delayMs: number };

type Sink = Pick<Simulator, "url" | "log" | "script">;

/** A push service that takes everything: decrypting each push, as the simulator does, costs as much as sending it. */
const startTaker = async ({ tls }: Credentials): Promise<Sink> => {
  const log = receivedLog();
  const script = scripted((next) => server.apply(next));
  const server = await startHttp2Server({
    port: 0,
    tls,
    answer: ({ path, headers }) => {
      log.add({ address: path, key: path, accepted: true, answer: "201", headers, body: "" });
      return { status: 201, headers: { location: path } };
    },
  });
  return { url: server.url, log, script: script.replace };
};

const starters = {
  apns: ({ tls, apns }: Credentials): Promise<Sink> => startApns({ port: 0, tls, keys: [apns] }),
  fcm: ({ tls, fcm }: Credentials): Promise<Sink> => startFcm({ port: 0, tls, accounts: [fcm] }),
  hms: ({ tls, hms }: Credentials): Promise<Sink> => startHms({ port: 0, tls, account: hms }),
  webPush: startTaker,
};

// A provider's simulator as a process of its own: the parent sends settings, gets the address, and asks for counts.
const serve = async ({ provider, credentials, delayMs }: SinkSettings): Promise<void> => {
  const sink = await starters[provider](credentials);
  sink.script({ delay_ms: delayMs });
  process.on("message", () => process.send?.(sink.log.counts()));
  process.send?.({ url: sink.url });
};
process.once("message", (settings: SinkSettings) => void serve(settings));
process.once("disconnect", () => process.exit());
