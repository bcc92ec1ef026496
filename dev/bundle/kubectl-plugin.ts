import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { rootDir } from "../files/paths.ts";

/** How kubectl finds it: `kubectl herald` runs the program of this name on the PATH. */
export const pluginName = "kubectl-herald";

/** Bundles `kubectl herald` into one file in `folder`, which needs Node.js alone; gives its path. */
export const bundlePlugin = async (folder: string): Promise<string> => {
  const file = join(folder, pluginName);
  await mkdir(folder, { recursive: true });
  await build({
    absWorkingDir: rootDir,
    entryPoints: ["kubectl/main.ts"],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    legalComments: "none",
    banner: { js: `#!/usr/bin/env node\n${head}` },
    minifyWhitespace: true,
    lineLimit: 120, // so that a stack trace still leads to a place that can be read
    logLevel: "warning",
  });
  await chmod(file, 0o755);
  return file;
};

/** CommonJS packages call `require`, which a module does not have. What was compiled is kept for the next run. */
const head =
  'import { createRequire as requireFrom, enableCompileCache } from "node:module"; ' +
  "const require = requireFrom(import.meta.url); enableCompileCache();";
