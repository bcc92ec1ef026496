import { join } from "node:path";
import { devDir } from "../files/paths.ts";
import { bundleVariable } from "../processes/programs.ts";
import { bundle } from "./bundle.ts";

/**
 * Bundles the programs once for all their starts, and gives the variable that says where. None while coverage is
 * measured, which is told by the files of the sources.
 */
export const bundledPrograms = async (): Promise<Record<string, string>> => {
  if (process.env["NODE_V8_COVERAGE"]) return {};
  const folder = join(devDir, "bundle");
  await bundle(folder);
  return { [bundleVariable]: folder };
};
