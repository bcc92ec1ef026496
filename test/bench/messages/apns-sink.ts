import { startApns } from "../../../dev/simulators/apns.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";

// The APNs simulator as a process of its own: the parent sends credentials, gets the address, and asks for counts.
const serve = async (credentials: Credentials): Promise<void> => {
  const simulator = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] });
  process.on("message", () => process.send?.(simulator.log.counts()));
  process.send?.({ url: simulator.url });
};
process.once("message", (credentials: Credentials) => void serve(credentials));
process.once("disconnect", () => process.exit());
