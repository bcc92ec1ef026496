import type { Command } from "../kit/command.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

/** `kubectl herald template render`. */
export const templateRender: Command = {
  name: "template render",
  summary: "show what a template says to a person, or with given data",
  operands: "TEMPLATE",
  mostOperands: 1,
  details:
    "Shows what a template says on each of its channels, its size beside the provider's limit, and what it reads and there is\n" +
    "not. TEMPLATE is its id or its name. Without --version it is the draft.",
  options: {
    to: { type: "string", value: "EXTERNAL_ID", description: "the person whom it is rendered for" },
    data: { type: "string", value: "FILE", description: "values that it reads, as JSON or YAML; - reads stdin" },
    channel: { type: "string", value: "CHANNEL", description: "on one channel only" },
    language: { type: "string", value: "TAG", description: "in this language; the person's when left out" },
    version: { type: "string", value: "NUMBER", description: "a published version" },
    ...restOptions,
  },
  examples: [
    { says: "for ada", line: "template render Receipt --to ada -n shop" },
    { says: "with data of a file", line: "template render Receipt --data order.yaml --channel email -n shop -o yaml" },
  ],
  exits: { 0: "it says something on every channel", 1: "it has a fault, or gives up, on some channel" },
  permissions: restPermissions("both"),
  load: async () => (await import("./render.ts")).runRender,
};
