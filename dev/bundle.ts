import { parseArgs } from "node:util";
import { bundle } from "./bundle/bundle.ts";
import { compile } from "./bundle/compile.ts";

// `node dev/bundle.ts FOLDER`: what the image holds of the programs.
const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined || positionals.length > 1) {
  console.error("usage: node dev/bundle.ts FOLDER: bundles the programs into FOLDER");
  process.exit(2);
}
await bundle(folder);
await compile(folder);
