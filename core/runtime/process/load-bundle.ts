import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

/** The folder beside the bundles with the code that V8 compiled of them, for each kind of processor. */
export const compiledFolder = "compiled";

/** A bundle that runs. */
export type Bundle = {
  /** What is loaded by now: paths from the folder of the bundles. */
  loaded: ReadonlyMap<string, Script>;
  /** Loads another file of the bundle, which it would load itself only when it is needed. */
  load: (file: string) => unknown;
};

/**
 * Loads a bundle by the address of its entry: `apiserver.js` has its files in the folder `apiserver`, each a function of
 * what CommonJS gives a module and of `entryUrl`.
 *
 * Node's own compile cache keeps a file's code as it is before the file runs, so that each function has to be compiled
 * once more when it is called for the first time: a third of a start. `Script` takes code that was kept after a start, if
 * there is any beside the bundle; V8 compiles by itself what another version, or other flags, have left
 * (docs/decisions/0243). Whoever writes a bundle sees to it that no code of another one lies beside it.
 */
export const loadBundle = (entryUrl: string): Bundle => {
  const name = basename(fileURLToPath(entryUrl), ".js");
  const ofNode = createRequire(entryUrl);
  const modules = new Map<string, { exports: unknown }>();
  const loaded = new Map<string, Script>();
  const load = (file: string): unknown => {
    const known = modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} as unknown };
    modules.set(file, module);
    const script = compiled(entryUrl, `${name}/${file}`);
    loaded.set(`${name}/${file}`, script);
    const run = script.runInThisContext() as BundledModule; // as dev/bundle/wrapped.ts writes it
    try {
      run(module.exports, required, module, entryUrl);
    } catch (error) {
      modules.delete(file); // whoever asks again is told so, too, and gets no half of it
      throw error;
    }
    return module.exports;
  };
  const required = Object.assign(
    (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : (process.getBuiltinModule(id) ?? ofNode(id))),
    { resolve: ofNode.resolve },
  );
  load("main.cjs");
  return { loaded, load };
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
