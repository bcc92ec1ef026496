import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { devDir, rootDir } from "../files/paths.ts";
import { bundleVariable } from "../processes/programs.ts";
import { bundle } from "./bundle.ts";
import { compile } from "./compile.ts";

/**
 * Bundles the programs for all their starts, unless the bundles are those of the sources as they are, and gives the variable
 * that says where. None while coverage is measured, which is told by the files of the sources.
 */
export const bundledPrograms = async (): Promise<Record<string, string>> => {
  if (process.env["NODE_V8_COVERAGE"]) return {};
  const folder = join(devDir, "bundle");
  if (!(await isCurrent(folder))) await bundleAnew(folder);
  await compile(folder);
  return { [bundleVariable]: folder };
};

/** What the bundles were made of: when each file was written, ms since 1970, by its path from the root. */
const inputsFile = join(devDir, "bundle-inputs.json");

const bundleAnew = async (folder: string): Promise<void> => {
  await rm(inputsFile, { force: true }); // whoever ends meanwhile leaves no bundles that look current
  await rm(folder, { recursive: true, force: true });
  const beganMs = Date.now();
  const inputs = await writtenMs([...(await bundle(folder)), ...(await ownFiles())]);
  const isOfOneMoment = Object.values(inputs).every((ms) => ms < beganMs);
  if (isOfOneMoment) await writeFile(inputsFile, JSON.stringify(inputs)); // else one may have been read before it changed
};

const isCurrent = async (folder: string): Promise<boolean> => {
  if (!existsSync(inputsFile) || !existsSync(folder)) return false;
  const known = JSON.parse(await readFile(inputsFile, "utf8")) as Record<string, number>; // as written above
  const found = await writtenMs(Object.keys(known));
  return Object.keys(known).every((path) => found[path] === known[path]);
};

const writtenMs = async (paths: readonly string[]): Promise<Record<string, number>> =>
  Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await timeOf(path)])));

const timeOf = async (path: string): Promise<number> =>
  (await stat(join(rootDir, path)).catch(() => ({ mtimeMs: 0 }))).mtimeMs; // 0: it is gone

/** How bundles are made counts as well. */
const ownFiles = async (): Promise<string[]> =>
  (await readdir(join(rootDir, "dev/bundle"))).map((name) => join("dev/bundle", name));
