import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Runs work while holding a lock file that other programs wait for. The kernel holds the lock for a helper process that
 * ends when its input closes, so it is given back however this program ends.
 */
export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  mkdirSync(dirname(file), { recursive: true });
  const holder = spawn("flock", [file, "sh", "-c", "echo locked; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "close");
  const locked = await Promise.race([once(holder.stdout, "data").then(() => true), ended.then(() => false)]);
  if (!locked) throw new Error(`cannot lock ${file}`);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
};
