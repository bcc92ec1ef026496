import type { Command } from "../kit/command.ts";
import { waitOptions } from "../kit/waiting.ts";

/** `kubectl herald status`. */
export const status: Command = {
  name: "status",
  summary: "show how each resource is doing, as a tree, and where trouble begins",
  operands: "[APP]",
  mostOperands: 1,
  details:
    "Shows the Tenants with their Apps, channels, keys, webhooks and whatever else belongs to them, whether each is Ready,\n" +
    "and the first cause of trouble: what has to be mended before the rest can be.",
  options: {
    output: { type: "string", short: "o", choices: ["wide", "json", "yaml"], description: "how it is printed" },
    watch: { type: "boolean", short: "w", description: "go on, and print it again when it has changed" },
    ...waitOptions("everything is Ready"),
  },
  examples: [
    { says: "everything of the namespace shop", line: "status -n shop" },
    { says: "one App, until it works, in a pipeline", line: "status backend -n shop --wait --timeout 2m" },
    { says: "what is not Ready in the whole cluster", line: "status -A -o json | jq '.notReady'" },
  ],
  exits: { 0: "everything shown is Ready", 1: "something is not Ready, or there is nothing" },
  permissions: [
    { group: "herald.dev", resource: "*", verbs: ["list"], why: "the resources that the tree shows" },
    {
      group: "herald.dev",
      resource: "tenants, plans",
      verbs: ["list"],
      why: "who owns a namespace; left out of the tree without it",
    },
  ],
  load: async () => (await import("./status.ts")).runStatus,
};
