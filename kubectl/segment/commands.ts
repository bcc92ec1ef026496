import type { Command } from "../kit/command.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

/** `kubectl herald segment explain`. */
export const segmentExplain: Command = {
  name: "segment explain",
  summary: "say whether somebody is in a segment, and what each condition found of them",
  operands: "SEGMENT EXTERNAL_ID",
  mostOperands: 2,
  details:
    "Says whether a person is in a segment now, with the value that each condition saw. SEGMENT is its id or its name.",
  options: restOptions,
  examples: [{ says: "why ada is not among the regulars", line: "segment explain Regulars ada -n shop" }],
  exits: { 0: "the person is in it", 1: "the person is not in it" },
  permissions: restPermissions("reads"),
  load: async () => (await import("./explain.ts")).runExplain,
};

/** `kubectl herald segment preview`. */
export const segmentPreview: Command = {
  name: "segment preview",
  summary: "count whom a filter means, without a segment",
  operands: "",
  mostOperands: 0,
  details: "Counts whom a filter means, and how many pass each of its conditions. A large app is waited for.",
  options: {
    filename: { type: "string", short: "f", value: "FILE", description: "the filter, as JSON or YAML; - reads stdin" },
    timeout: {
      type: "string",
      value: "DURATION",
      description: "how long is waited at most, e.g. 90s; 2m when left out",
    },
    ...restOptions,
  },
  examples: [
    { says: "of a file", line: "segment preview -f regulars.yaml -n shop" },
    {
      says: "of a line",
      line: `segment preview -f - -n shop <<< '{"all": [{"field": "country", "op": "eq", "value": "DE"}]}'`,
    },
  ],
  exits: { 0: "everybody was counted", 1: "the count had not ended in time" },
  permissions: restPermissions("writes"),
  load: async () => (await import("./preview.ts")).runPreview,
};
