import { startApns } from "../../dev/simulators/apns.ts";
import type { Credentials } from "../../dev/simulators/credentials.ts";

// The APNs simulator as a process of its own: the parent sends credentials, gets the address, and asks for counts.
process.once("message", (credentials: Credentials) => {
  void startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] }).then((simulator) => {
    process.send?.({ url: simulator.url });
    process.on("message", () => process.send?.(simulator.log.counts()));
  });
});
process.once("disconnect", () => process.exit());
