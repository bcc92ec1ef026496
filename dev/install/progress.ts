import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { devDir, rootDir } from "../files/paths.ts";

const reportEveryMs = 10_000;
const running = new Map<string, number>();

/** Says something to the person who waits, on stderr. */
export const say = (line: string): void => console.error(`herald: ${line}`);

/** Runs a step of the installation; says when it begins, every 10 s what runs for how long, and when it is done. */
export const step = async (what: string, work: () => Promise<void>): Promise<void> => {
  say(`${what} ...`);
  const began = Date.now();
  running.set(what, began);
  await work();
  running.delete(what);
  say(`${what}: done, ${seconds(began)} s`);
};

/** Starts the reports; call the result to end them. */
export const reportProgress = (): (() => void) => {
  const timer = setInterval(() => {
    const lines = [...running].map(([what, began]) => `${what} (${seconds(began)} s so far)`);
    if (lines.length > 0) say(lines.join("; "));
  }, reportEveryMs);
  return () => clearInterval(timer);
};

/** How a command is run: its log's name, its folder and environment. A `tied` command is killed with this program. */
export type CommandOptions = { log: string; cwd?: string; env?: NodeJS.ProcessEnv; tied?: boolean };

/** Runs a command with its output in `.dev/logs`. Throws with the log's end when it fails. */
export const command = async (words: readonly string[], options: CommandOptions): Promise<void> => {
  const { log, cwd = rootDir, env = {}, tied = true } = options;
  const file = join(devDir, "logs", `${log}.log`);
  mkdirSync(join(devDir, "logs"), { recursive: true });
  const output = openSync(file, "a");
  const [program = "", ...args] = tied ? ["setpriv", "--pdeathsig", "KILL", "--", ...words] : words;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", output, output] });
  closeSync(output);
  const code = await new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  if (code === 0) return;
  const end = readFileSync(file, "utf8").trimEnd().split("\n").slice(-8).join("\n");
  throw new Error(`"${words.slice(0, 4).join(" ")} ..." failed; the end of ${relative(rootDir, file)}:\n${end}`);
};

const seconds = (since: number): number => Math.round((Date.now() - since) / 1000);
