import type { Command } from "../kit/command.ts";

/** `kubectl herald lint`. */
export const lint: Command = {
  name: "lint",
  summary: "check resources in files before they are applied; needs no cluster",
  operands: "[FILE...]",
  mostOperands: 1_000,
  details:
    "Checks Herald's resources in files, as the API server and the operator would: unknown members, schemas, rules between\n" +
    "members, Liquid, filters, references between files, plans. Resources of others are left alone. It needs no cluster.",
  options: {
    filename: {
      type: "string",
      short: "f",
      value: "PATH",
      isRepeated: true,
      description: "a file, or a folder with all below it; - reads stdin, e.g. from kustomize build; may be repeated",
    },
    output: { type: "string", short: "o", choices: ["json", "sarif"], description: "how it is printed" },
    partial: { type: "boolean", description: "the files are a part: what they refer to may be elsewhere" },
    strict: { type: "boolean", description: "warnings fail, too" },
  },
  examples: [
    { says: "a folder of a git repository", line: "lint -f deploy/" },
    { says: "what kustomize makes of it", line: "lint -f - -n shop < <(kustomize build deploy/)" },
    { says: "for the code scanning of a git server", line: "lint -f deploy/ -o sarif > herald.sarif" },
  ],
  exits: { 0: "nothing is wrong, or there are only warnings", 1: "something is wrong" },
  permissions: [],
  load: async () => (await import("./lint.ts")).runLint,
};
