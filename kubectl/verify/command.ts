import type { Command } from "../kit/command.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

/** `kubectl herald verify counts`. */
export const verifyCounts: Command = {
  name: "verify counts",
  summary: "count an app's deliveries again, and compare",
  operands: "",
  mostOperands: 0,
  details:
    "Reads what the analytics say of each channel, has the deliveries of that time counted again from what is stored, and says\n" +
    "which numbers that changed: none, unless one was wrong, or a receipt came meanwhile. It looks at a day when left out, and\n" +
    "at seven at most. The ApiKey needs the scope admin.",
  options: {
    from: {
      type: "string",
      value: "INSTANT",
      description: "a full quarter of an hour; a day before --to when left out",
    },
    to: { type: "string", value: "INSTANT", description: "a later one; the last that is over when left out" },
    timeout: { type: "string", value: "DURATION", description: "how long it waits for the count; 5m when left out" },
    ...restOptions,
  },
  examples: [
    { says: "of the last day", line: "verify counts -n shop" },
    { says: "of one week", line: "verify counts -n shop --from 2026-11-02T00:00:00Z --to 2026-11-09T00:00:00Z" },
  ],
  exits: { 0: "no number changed", 1: "some did, or the count took too long" },
  permissions: restPermissions("both"),
  load: async () => (await import("./verify.ts")).runVerifyCounts,
};
