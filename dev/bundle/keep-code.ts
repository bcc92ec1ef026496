import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { compiledFolder, loadBundle } from "#core/runtime/process/load-bundle.ts";

// `node dev/bundle/keep-code.ts FOLDER PROGRAM FLAG…`: runs a bundled program, and when it ends keeps the code of all that has
// run as if V8 had been started with the flags. What the program would load later, such as an SDK, is loaded by then.
const [, , folder = "", program = "", ...flags] = process.argv;
process.argv.splice(2);
const { loaded, load } = loadBundle(pathToFileURL(join(folder, `${program}.js`)).href);
const loadLater = (file: string): void => {
  try {
    load(file);
  } catch {
    // A package that is left outside of the bundles is not installed here: the file has what code it came to.
  }
};
process.on("exit", () => {
  for (const file of readdirSync(join(folder, program)).toSorted())
    if (file.endsWith(".cjs") && !loaded.has(`${program}/${file}`)) loadLater(file);
  for (const flag of flags) setFlagsFromString(flag);
  for (const [file, script] of loaded) {
    const path = join(folder, compiledFolder, process.arch, `${file}.code`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, script.createCachedData());
  }
});
