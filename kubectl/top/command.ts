import type { Command } from "../kit/command.ts";

/** `kubectl herald top`. */
export const top: Command = {
  name: "top",
  summary: "show the tenants that send most and the webhooks that fail most or are slowest",
  operands: "",
  mostOperands: 0,
  details:
    "Shows who uses most and what is slowest, from what the operator writes into the statuses of Tenants and Webhooks: to two\n" +
    "digits, and at most some minutes old. The exact figures are Grafana's and GET /v1/usage's.",
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
  ],
  load: async () => (await import("./top.ts")).runTop,
};
