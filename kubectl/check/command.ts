import type { Command, Permission } from "../kit/command.ts";
import { waitOptions } from "../kit/waiting.ts";

const permissions: readonly Permission[] = [
  { group: "herald.dev", resource: "*", verbs: ["list"], why: "the accounts of Apps, and what is not Ready" },
  { group: "", resource: "pods", verbs: ["list"], why: "whether the three programs run" },
  { group: "", resource: "services", verbs: ["list"], why: "where the REST interface is" },
  { group: "", resource: "services/proxy", verbs: ["get"], why: "status.json, which every visitor may read" },
];

/** `kubectl herald check`. */
export const check: Command = {
  name: "check",
  summary: "check an installation: the API, the kinds, the programs, their stores, accounts and clocks",
  operands: "",
  mostOperands: 0,
  details:
    "Checks an installation from the outside, and says of each check whether it passes and what to do when it does not.\n" +
    "What you may not look at is unknown, which is no failure.",
  options: {
    ...waitOptions("every check passes"),
    output: { type: "string", short: "o", choices: ["json", "yaml"], description: "how it is printed" },
  },
  examples: [
    { says: "an installation in the namespace herald", line: "check -n herald" },
    { says: "until it runs, after helm install", line: "check -n herald --wait --timeout 3m" },
  ],
  exits: { 0: "every check that could be made passes", 1: "a check fails" },
  permissions,
  load: async () => (await import("./check.ts")).runCheck,
};
