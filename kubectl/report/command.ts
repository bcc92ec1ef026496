import type { Command } from "../kit/command.ts";

/** `kubectl herald report`. */
export const report: Command = {
  name: "report",
  summary: "gather what somebody needs who helps you, in one file without secrets and addresses",
  operands: "[FILE]",
  mostOperands: 1,
  details:
    "Writes a zip with the resources and their conditions, events, logs, metrics, versions and what status and check say. It reads no\n" +
    "Secret. Tokens, passwords, keys, e-mail addresses and phone numbers that stand elsewhere are masked; look through it\n" +
    "all the same before you hand it on.",
  options: {
    since: { type: "string", value: "DURATION", description: "logs so long back, e.g. 2h; 1h when left out" },
  },
  examples: [{ says: "of an installation in the namespace herald", line: "report -n herald herald-report.zip" }],
  exits: { 0: "the file was written", 1: "there was nothing to gather" },
  permissions: [
    { group: "herald.dev", resource: "*", verbs: ["list"], why: "the resources and their conditions" },
    { group: "", resource: "pods", verbs: ["list"], why: "the pods of the three programs" },
    { group: "", resource: "pods/log", verbs: ["get"], why: "what they log" },
    { group: "", resource: "pods/proxy", verbs: ["get"], why: "their metrics; the file says so without it" },
    { group: "", resource: "events", verbs: ["list"], why: "what Kubernetes says of both" },
    { group: "", resource: "services", verbs: ["list"], why: "for check" },
    { group: "", resource: "services/proxy", verbs: ["get"], why: "for check" },
  ],
  load: async () => (await import("./report.ts")).runReport,
};
