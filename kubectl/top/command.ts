import type { Command } from "../kit/command.ts";

/** `kubectl herald top`. */
export const top: Command = {
  name: "top",
  summary: "show the tenants that send most, the webhooks that fail most, and the accounts that are cut off",
  operands: "",
  mostOperands: 0,
  details:
    "Shows who uses most and what is slowest, from what the operator writes into the statuses of Tenants and Webhooks: to two\n" +
    "digits, and at most some minutes old. The exact figures are Grafana's and GET /v1/usage's. Below them stands how many\n" +
    "accounts of a channel each dispatcher has cut off at the moment, as their provider fails: it tries them once a minute.",
  options: {
    limit: { type: "string", value: "COUNT", description: "so many of each; 10 when left out" },
    output: { type: "string", short: "o", choices: ["json", "yaml"], description: "how it is printed" },
  },
  examples: [
    { says: "of the whole cluster", line: "top -A" },
    { says: "the three webhooks that fail most", line: "top -A --limit 3 -o json | jq '.webhooks'" },
  ],
  exits: { 0: "it was printed", 1: "nothing has been used yet" },
  permissions: [
    { group: "herald.dev", resource: "tenants", verbs: ["list"], why: "what each uses; left out without it" },
    { group: "herald.dev", resource: "webhooks", verbs: ["list"], why: "how each does" },
    { group: "", resource: "pods", verbs: ["list"], why: "the dispatchers; without them no account is shown" },
    { group: "", resource: "pods/proxy", verbs: ["get"], why: "which accounts each has cut off; left out without it" },
  ],
  load: async () => (await import("./top.ts")).runTop,
};
