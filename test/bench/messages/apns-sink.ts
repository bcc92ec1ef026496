import { startApns } from "../../../dev/simulators/apns.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";

/** What the parent says first: whom to know, and how long to take for an answer. */
export type SinkSettings = { credentials: Credentials; delayMs: number };

// The APNs simulator as a process of its own: the parent sends settings, gets the address, and asks for counts.
const serve = async ({ credentials, delayMs }: SinkSettings): Promise<void> => {
  const simulator = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] });
  simulator.script({ delay_ms: delayMs });
  process.on("message", () => process.send?.(simulator.log.counts()));
  process.send?.({ url: simulator.url });
};
process.once("message", (settings: SinkSettings) => void serve(settings));
process.once("disconnect", () => process.exit());
