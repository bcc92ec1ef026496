import { existsSync } from "node:fs";
import { join } from "node:path";
import { compiledFolder } from "#core/runtime/process/load-bundle.ts";
import { nodeEnvironment, nodeFlags } from "../processes/programs.ts";
import { attempt } from "../processes/run-command.ts";
import { programs } from "./bundle.ts";

/**
 * Flags with which the same bundles give the same bytes: a heap that is never collected, as V8 neither counts how old code is nor
 * writes over what it has not used before, no Sparkplug and nothing compiled in the background, which mark functions while
 * they are at work, and one order of random numbers.
 */
const steady = [
  "--max-semi-space-size=256",
  "--min-semi-space-size=256",
  "--initial-heap-size=1500",
  "--no-sparkplug",
  "--no-concurrent-recompilation",
];
/** What they would be in a program. Code is taken with the flags alone that it was kept with; V8 leaves the seed out. */
const usual = [
  ...nodeFlags,
  "--min-semi-space-size=0",
  "--initial-heap-size=0",
  "--sparkplug",
  "--concurrent-recompilation",
];

/**
 * Puts what V8 compiles of the bundles in `folder` beside them, for processors of this machine's kind. A program without
 * settings loads everything, says which are missing and ends. What is there already is kept: `bundle` has removed it when it
 * was of other bundles.
 */
export const compile = async (folder: string): Promise<void> => {
  const env = { ...withoutSettings(), ...nodeEnvironment };
  const keep = async (program: string): Promise<void> => {
    const script = join(import.meta.dirname, "keep-code.ts");
    const words = [process.execPath, ...nodeFlags, ...steady, "--random-seed=1", script, folder, program, ...usual];
    const { stderr } = await attempt(words, { env });
    const isKept = stderr.includes("HERALD_MONGODB_URL is required") && existsSync(keptFolder(folder, program));
    if (!isKept) throw new Error(`no code of ${program} was kept:\n${stderr}`);
  };
  await Promise.all(programs.filter((program) => !existsSync(keptFolder(folder, program))).map(keep));
};

const keptFolder = (folder: string, program: string): string => join(folder, compiledFolder, process.arch, program);

/** Settings of whoever runs this would start the programs. */
const withoutSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (name.startsWith("HERALD_") ? [[name, undefined]] : [])),
  );
