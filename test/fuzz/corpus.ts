import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const pathOf = (name: string): string => join(import.meta.dirname, "corpus", `${name}.txt`);

/** The inputs that are kept of a target: one on each line, in hexadecimal digits. */
export const readCorpus = (name: string): Buffer[] =>
  readFileSync(pathOf(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Buffer.from(line, "hex"));

export const writeCorpus = (name: string, inputs: readonly Buffer[]): void =>
  writeFileSync(
    pathOf(name),
    inputs
      .map((input) => `${input.toString("hex")}\n`)
      .toSorted()
      .join(""),
  );
