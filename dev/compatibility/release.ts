import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Promises } from "./breaches.ts";

/** The last release: its version, what it promised, and the breaches that the next one may commit. */
export type Release = { version: string; promised: Promises; allowed: readonly string[] };

const names = ["rest", "events", "kinds"] as const;

/** Reads what {@link keepRelease} wrote into a folder. A line of `allowed.txt` that begins with # says why. */
export const lastRelease = async (folder: string): Promise<Release> => {
  const read = (file: string): Promise<string> => readFile(join(folder, file), "utf8");
  const documents = await Promise.all(names.map(async (name) => [name, JSON.parse(await read(`${name}.json`))]));
  const lines = (await read("allowed.txt")).split("\n").map((line) => line.trim());
  return {
    version: (await read("version.txt")).trim(),
    promised: Object.fromEntries(documents) as Promises, // sound: keepRelease wrote them
    allowed: lines.filter((line) => line !== "" && !line.startsWith("#")),
  };
};

/** Makes a release the last one; nothing is allowed any more. */
export const keepRelease = async (folder: string, version: string, promised: Promises): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const name of names) await writeFile(join(folder, `${name}.json`), `${JSON.stringify(promised[name])}\n`);
  await writeFile(join(folder, "allowed.txt"), allowedHead(version));
  await writeFile(join(folder, "version.txt"), `${version}\n`);
};

const allowedHead = (version: string): string =>
  `# What may break since ${version}: a line each, as \`make check\` prints it, below a comment that says why.\n`;
