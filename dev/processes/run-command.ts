import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { rootDir } from "../files/paths.ts";

/** What a program printed, and its exit code: -1 when it was ended because its time was over. */
export type Outcome = { code: number; stdout: string; stderr: string };

/** `env` is added to this process's own; without `cwd` it runs in the repository's root. */
export type CommandOptions = { input?: string | undefined; timeoutMs?: number; env?: NodeJS.ProcessEnv; cwd?: string };

const standardTimeoutMs = 180_000; // it ends only what hangs

/** Runs a program to its end. */
export const attempt = async (
  [program = "", ...args]: readonly string[],
  { input = "", timeoutMs = standardTimeoutMs, env = {}, cwd = rootDir }: CommandOptions = {},
): Promise<Outcome> => {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code ?? -1));
  });
  child.stdin.on("error", () => undefined).end(input); // it may end without reading: its code says how it went
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
};

/** The same; throws what it complains of when it fails. */
export const command = async (words: readonly string[], options: CommandOptions = {}): Promise<string> => {
  const { code, stdout, stderr } = await attempt(words, options);
  if (code !== 0) throw new Error(`${words.slice(0, 8).join(" ")}: ended with ${code}\n${stdout}${stderr}`.trim());
  return stdout;
};
