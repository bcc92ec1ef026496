import { cpSync, existsSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { fileURLToPath } from "node:url";

/** The folder beside the bundles with the code that was compiled when the image was made, for each kind of processor. */
export const compiledFolder = "compiled";

/**
 * Gives an empty compile cache (NODE_COMPILE_CACHE) what the image has, before anything large is loaded: so the first start
 * of a pod compiles nothing. V8 leaves what another version or other flags compiled. Does nothing without either of the two.
 */
export const bringCompiledCode = (moduleUrl: string): void => {
  const cache = getCompileCacheDir();
  const brought = fileURLToPath(new URL(`${compiledFolder}/${process.arch}`, moduleUrl));
  if (cache === undefined || !existsSync(brought)) return;
  try {
    cpSync(brought, cache, { recursive: true, force: false });
  } catch {
    // The cache cannot be written: the start takes longer, and nothing else differs.
  }
};
