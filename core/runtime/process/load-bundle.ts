import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/** The folder beside the bundles with the code that V8 compiled of them, for each kind of processor. */
export const compiledFolder = "compiled";

/** What is known of a bundle's file once it is loaded. */
export type Loaded = {
  /** Its path from the folder of the bundles. */
  file: string;
  script: Script;
};

/**
 * Loads a bundle by the address of its entry: `apiserver.js` has its files in the folder `apiserver`, each a function of
 * what CommonJS gives a module and of `entryUrl`. Returns what was loaded, to which is added what is loaded later.
 *
 * Node's own compile cache keeps a file's code as it is before the file runs, so that each function has to be compiled
 * once more when it is called for the first time: a third of a start. `Script` takes code that was kept after a start, if
 * there is any beside the bundle; V8 compiles by itself what another version, or other flags, have left
 * (docs/decisions/0243). Whoever writes a bundle sees to it that no code of another one lies beside it.
 */
export const loadBundle = (entryUrl: string): readonly Loaded[] => {
  const name = basename(fileURLToPath(entryUrl), ".js");
  const ofNode = createRequire(entryUrl);
  const modules = new Map<string, { exports: unknown }>();
  const all: Loaded[] = [];
  const load = (file: string): unknown => {
    const known = modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} as unknown };
    modules.set(file, module);
    const script = compiled(entryUrl, `${name}/${file}`);
    all.push({ file: `${name}/${file}`, script });
    const run = script.runInThisContext() as BundledModule; // as dev/bundle/wrapped.ts writes it
    run(module.exports, required, module, entryUrl);
    return module.exports;
  };
  const required = Object.assign(
    (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : (process.getBuiltinModule(id) ?? ofNode(id))),
    { resolve: ofNode.resolve },
  );
  load("main.cjs");
  return all;
};

type BundledModule = (
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  entryUrl: string,
) => void;

const compiled = (entryUrl: string, file: string): Script => {
  const url = new URL(file, entryUrl);
  const source = readFileSync(url, "latin1"); // bundles are ASCII
  const cachedData = keptCode(new URL(`${compiledFolder}/${process.arch}/${file}.code`, entryUrl));
  return new Script(source, { filename: url.href, ...(cachedData && { cachedData }) });
};

const keptCode = (url: URL): Buffer | null => {
  try {
    return readFileSync(url);
  } catch {
    return null; // a bundle that nobody has started yet, or a processor of another kind
  }
};
