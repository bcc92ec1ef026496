import type { Command } from "../kit/command.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

/** `kubectl herald why`. */
export const why: Command = {
  name: "why",
  summary: "say why somebody got a notification, or did not",
  operands: "MESSAGE [EXTERNAL_ID]",
  mostOperands: 2,
  details:
    "Says what decided whether a notification reached a person: every gate in order with what it saw. Without a person it\n" +
    "counts what decided about all recipients. The owner of the App is told who asked about whom.",
  options: {
    subscription: { type: "string", value: "ID", description: "about one subscription, instead of a person" },
    address: { type: "string", value: "ADDRESS", description: "about an address or token, instead of a person" },
    ...restOptions,
  },
  examples: [
    { says: "why ada did not get it", line: "why msg_01J9ZK3V5T8Q2N7R4W6X1Y0ABC ada -n shop" },
    { says: "how many stopped where", line: "why msg_01J9ZK3V5T8Q2N7R4W6X1Y0ABC -n shop" },
  ],
  exits: { 0: "it was sent to them; without a person: it was counted", 1: "it was not sent to them, or not yet" },
  permissions: restPermissions("reads"),
  load: async () => (await import("./why.ts")).runWhy,
};
