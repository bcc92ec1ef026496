import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { bundle } from "../bundle/bundle.ts";
import { compile } from "../bundle/compile.ts";
import { rootDir } from "../files/paths.ts";
import { command } from "../install/progress.ts";

/** Puts the bundled programs into a root folder, below `/app`. */
export const programsRoot = async (root: string): Promise<void> => {
  const app = join(root, "app");
  await bundle(app);
  await compile(app);
  await copyFile(join(rootDir, "LICENSE"), join(app, "LICENSE"));
};

/** Puts the packages that are not in the bundles of `programs` into a root folder, of the versions that are locked. */
export const packagesRoot = async (root: string, programs: string): Promise<void> => {
  const app = join(root, "app");
  await mkdir(app, { recursive: true });
  await copyFile(join(programs, "app/package.json"), join(app, "package.json"));
  await copyFile(join(rootDir, "package-lock.json"), join(app, "package-lock.json"));
  const flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  await command(["npm", "install", ...flags], { log: "release", cwd: app });
  for (const name of ["package.json", "package-lock.json"]) await rm(join(app, name)); // the programs have theirs
};
