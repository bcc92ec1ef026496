import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { rootDir } from "../files/paths.ts";
import { type Replaced, replacing } from "./replaced.ts";
import { smallerPackages } from "./smaller-packages.ts";

/** What is started by its file: the programs and the chart's Job, and the threads by the folders of their `worker.ts`. */
export const programs = ["apiserver", "dispatcher", "operator"];
const jobs = { "apply-plans": "operator/plans/apply.ts" };
const threads = ["core/runtime/mjml", "core/runtime/templates", "core/runtime/templates/content", "dispatcher/mail"];

/** Packages that node_modules still has to hold: what they load is for features that few installations use. */
const leftOutside = [
  "@opentelemetry/core",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace",
  "mjml",
] as const;

/**
 * Bundles the programs into `folder`: `apiserver.js`, `dispatcher.js`, `operator.js`, `apply-plans.js`, their threads and
 * the chunks that they share. A start then finds and reads a few files instead of some 700, which is most of what it costs.
 * Maps of sources are beside them (core/runtime/process/source-lines.ts), and the `package.json` there names the few packages that
 * have to be installed. `replaced`: of a measurement alone.
 */
export const bundle = async (folder: string, replaced: Replaced = {}): Promise<void> => {
  const { outputFiles } = await build({
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
    external: [...leftOutside],
    legalComments: "none",
    banner: { js: requireOfCommonJs },
    plugins: [replacing(replaced), threadAddresses, nodeModules, smallerPackages],
    minifyWhitespace: true,
    lineLimit: 120, // a stack trace of what has no map leads to a place that can be read
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "warning",
    write: false,
  });
  await mkdir(folder, { recursive: true });
  const kept = (path: string, text: string) => (path.endsWith(".map") ? namedFromRoot(text, folder) : onlyAscii(text));
  await Promise.all(outputFiles.map(({ path, text }) => writeFile(path, kept(path, text))));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(ownManifest(), null, 2)}\n`);
};

/** A source map with the sources' names in the repository, wherever the bundles are made. */
const namedFromRoot = (map: string, folder: string): string => {
  const parsed = JSON.parse(map) as { sources: string[] }; // as esbuild writes it
  const nameOf = (one: string) => (one.includes(":") ? one : relative(rootDir, resolve(folder, one))); // a plugin's own has a ":"
  return JSON.stringify({ ...parsed, sources: parsed.sources.map(nameOf) });
};

const ownManifest = () => {
  const { name, version, type, license } = manifest;
  const dependencies = Object.fromEntries(leftOutside.map((one) => [one, manifest.dependencies[one]]));
  return { name, version, private: true, type, license, dependencies };
};

/**
 * V8 keeps a file with one character beyond ASCII at two bytes a character. esbuild leaves such characters in regular
 * expressions alone, where an escape means the same.
 */
const onlyAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

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

/**
 * Node's own modules are asked for by `require`: an `import` reads each of their members, and reading node:http's takes 70 ms,
 * as two of them load an HTTP client. HTTP/2 is left out, which packages would load and never use: the programs have a client
 * of their own for it (dispatcher/net/http2).
 */
const nodeModules: Plugin = {
  name: "Node's modules",
  setup: (building) => {
    building.onResolve({ filter: /^(node:)?http2$/ }, () => ({ path: "http2", namespace: "left out" }));
    building.onLoad({ filter: /./, namespace: "left out" }, () => ({ contents: withoutHttp2 }));
    building.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "required" } : null,
    );
    building.onLoad({ filter: /./, namespace: "required" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

const withoutHttp2 = `
  exports.constants = {};
  exports.connect = () => { throw new Error("node:http2 is not in the bundle: see dev/bundle"); };
`;
