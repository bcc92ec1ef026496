import type { Command } from "../kit/command.ts";

/** `kubectl herald logs`. */
export const logs: Command = {
  name: "logs",
  summary: "print what the operator, apiservers and dispatchers log, in the order of time",
  operands: "",
  mostOperands: 0,
  details:
    "Merges the logs of all pods of the three programs by time. One line is one unit of work; --message shows the lines of\n" +
    "one message, whichever pod wrote them.",
  options: {
    follow: { type: "boolean", short: "f", description: "go on, also with pods that come later" },
    program: {
      type: "string",
      value: "NAME",
      choices: ["operator", "apiserver", "dispatcher"],
      description: "of one program",
    },
    message: {
      type: "string",
      value: "ID",
      description: "only lines that name this id: of a message, or of anything else",
    },
    level: { type: "string", choices: ["info", "warn", "error"], description: "only lines of this level and above" },
    since: { type: "string", value: "DURATION", description: "only what is younger, e.g. 10m" },
    tail: {
      type: "string",
      value: "COUNT",
      description: "so many lines of each pod; 100 when left out, 10000 with --since or --message",
    },
    output: {
      type: "string",
      short: "o",
      choices: ["json"],
      description: "the lines as they were written, with the pod added",
    },
  },
  examples: [
    { says: "what goes wrong now", line: "logs -f --level warn" },
    { says: "what became of one message", line: "logs --message msg_01J9ZK3V5T8Q2N7R4W6X1Y0ABC" },
  ],
  exits: { 0: "the logs were printed", 1: "there is no pod of Herald" },
  permissions: [
    { group: "", resource: "pods", verbs: ["list"], why: "the pods of the three programs" },
    { group: "", resource: "pods/log", verbs: ["get"], why: "what they log" },
  ],
  load: async () => (await import("./logs.ts")).runLogs,
};
