import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
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
  if (!(await isCurrent())) {
    await mkdir(devDir, { recursive: true });
    await writeFile(inputsFile, "{}"); // whoever ends meanwhile leaves no bundles that look current
    const inputs = await bundle(folder);
    await writeFile(inputsFile, JSON.stringify(await versionsOf([...inputs, ...(await ownFiles())])));
  }
  await compile(folder);
  return { [bundleVariable]: folder };
};

/** What the bundles were made of: each file's time and size, by its path from the root. */
const inputsFile = join(devDir, "bundle-inputs.json");

type Versions = Record<string, string>;

const isCurrent = async (): Promise<boolean> => {
  const known = JSON.parse(await readFile(inputsFile, "utf8").catch(() => "{}")) as Versions; // as written above
  const paths = Object.keys(known);
  if (paths.length === 0) return false;
  const found = await versionsOf(paths);
  return paths.every((path) => found[path] === known[path]);
};

const versionsOf = async (paths: readonly string[]): Promise<Versions> =>
  Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await versionOf(path)])));

const versionOf = async (path: string): Promise<string> => {
  const { mtimeMs, size } = await stat(join(rootDir, path)).catch(() => ({ mtimeMs: 0, size: 0 }));
  return `${mtimeMs} ${size}`;
};

/** How bundles are made counts as well. */
const ownFiles = async (): Promise<string[]> =>
  (await readdir(join(rootDir, "dev/bundle"))).map((name) => join("dev/bundle", name));
