import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { rootDir } from "../files/paths.ts";

/** What is started by its file: the programs and the chart's Job, and the threads by the folders of their `worker.ts`. */
const programs = ["apiserver", "dispatcher", "operator"];
const jobs = { "apply-plans": "operator/plans/apply.ts" };
const threads = ["core/runtime/mjml", "core/runtime/templates"];

/** Packages that node_modules still has to hold: what they load is for features that few installations use. */
export const leftOutside = ["@aws-sdk/*", "@opentelemetry/*", "mjml"];

/**
 * Bundles the programs into `folder`: `apiserver.js`, `dispatcher.js`, `operator.js`, `apply-plans.js`, their threads and
 * the chunks that they share. A start then finds and reads a few files instead of some 700, which is most of what it costs.
 */
export const bundle = async (folder: string): Promise<void> => {
  await build({
    absWorkingDir: rootDir,
    entryPoints: {
      ...Object.fromEntries(programs.map((program) => [program, `${program}/main.ts`])),
      ...jobs,
      ...Object.fromEntries(threads.map((place) => [threadName(place), `${place}/worker.ts`])),
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external: leftOutside,
    legalComments: "none",
    banner: { js: requireOfCommonJs },
    plugins: [threadAddresses],
    logLevel: "warning",
  });
};

/** CommonJS packages call `require` for Node's own modules, which a module does not have. */
const requireOfCommonJs =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

const threadName = (place: string): string => place.replaceAll("/", "-");

/** Leads the addresses of threads to their bundles. */
const threadAddresses: Plugin = {
  name: "thread addresses",
  setup: (building) => {
    building.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes(address)) return null;
      const place = relative(rootDir, dirname(path));
      if (!threads.includes(place)) throw new Error(`${join(place, "worker.ts")} is missing in the bundle's threads`);
      return { contents: source.replace(address, `new URL("${threadName(place)}.js", import.meta.url)`), loader: "ts" };
    });
  },
};

const address = 'new URL("worker.ts", import.meta.url)';
