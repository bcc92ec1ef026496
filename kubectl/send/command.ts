import type { Command } from "../kit/command.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

/** `kubectl herald send`. */
export const send: Command = {
  name: "send",
  summary: "send a notification from a file, or say whom it would reach",
  operands: "",
  mostOperands: 0,
  details:
    "Sends a notification: the body of POST /v1/notifications, as JSON or YAML. --to sends it to single people instead of its\n" +
    "target, which is how a message is tried. Whatever is not for people named by their ids also needs --broadcast. It is sent\n" +
    "once however often it is tried with the same --idempotency-key; one is made when it is left out.",
  options: {
    filename: { type: "string", short: "f", value: "FILE", description: "the notification; - reads stdin" },
    to: {
      type: "string",
      value: "EXTERNAL_ID",
      isRepeated: true,
      description: "a person, instead of the file's target; may be repeated",
    },
    "dry-run": { type: "boolean", description: "check it and count whom it would reach; nothing is sent" },
    broadcast: { type: "boolean", description: "allows a target that names no people: all, segments, filters" },
    "idempotency-key": { type: "string", value: "KEY", description: "sends it once, also when no answer came before" },
    ...restOptions,
  },
  examples: [
    { says: "whom it would reach", line: "send -f sale.yaml --dry-run -n shop" },
    { says: "to yourself", line: "send -f sale.yaml --to ada -n shop" },
    { says: "to its target, a segment", line: "send -f sale.yaml --broadcast -n shop -o json" },
  ],
  exits: { 0: "it was accepted; with --dry-run: it would reach somebody", 1: "it reaches nobody" },
  permissions: restPermissions("writes"),
  load: async () => (await import("./send.ts")).runSend,
};
