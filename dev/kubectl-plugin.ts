import { parseArgs } from "node:util";
import { bundlePlugin } from "./bundle/kubectl-plugin.ts";
import { say } from "./install/progress.ts";

// `node dev/kubectl-plugin.ts FOLDER`: makes `kubectl herald`, one file.
const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined || positionals.length > 1) {
  console.error("usage: node dev/kubectl-plugin.ts FOLDER: makes kubectl-herald in FOLDER");
  process.exit(2);
}
const file = await bundlePlugin(folder);
say(`${file} is made; next: kubectl herald --help, with its folder on the PATH`);
