import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type BuildOptions, build, type OutputFile, type Plugin } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { rootDir } from "../files/paths.ts";
import { type Replaced, replacing } from "./replaced.ts";
import { smallerPackages } from "./smaller-packages.ts";
import { wrapped } from "./wrapped.ts";

/** What is started by its file: the programs and the chart's Job, and the threads by the folders of their `worker.ts`. */
export const programs = ["apiserver", "dispatcher", "operator"];
const jobs = { "apply-plans": "operator/plans/apply.ts" };
const threads = ["core/runtime/mjml", "core/runtime/templates", "core/runtime/templates/content", "dispatcher/mail"];

const threadName = (place: string): string => place.replaceAll("/", "-");

const entries: Readonly<Record<string, string>> = {
  ...Object.fromEntries(programs.map((program) => [program, `${program}/main.ts`])),
  ...jobs,
  ...Object.fromEntries(threads.map((place) => [threadName(place), `${place}/worker.ts`])),
};

/** Packages that node_modules still has to hold: what they load is for features that few installations use. */
const leftOutside = [
  "@opentelemetry/core",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace",
  "mjml",
] as const;

/**
 * Bundles the programs into `folder`: `apiserver.js`, `dispatcher.js`, `operator.js`, `apply-plans.js` and their threads,
 * each with a folder of what it loads (core/runtime/process/load-bundle.ts). A start then finds and reads a few files
 * instead of some 700. Maps of sources are beside them (core/runtime/process/source-lines.ts), and the `package.json`
 * there names the few packages that have to be installed. `replaced`: of a measurement alone. Gives the files that the
 * bundles were made of, as paths from the root. Bundles that the folder held are removed.
 * @throws when it holds anything else
 */
export const bundle = async (folder: string, replaced: Replaced = {}): Promise<string[]> => {
  if (!(await isForBundles(folder))) throw new Error(`${folder} holds something else than bundles: name a new folder`);
  const loading = build({ ...common, ...asCommonJs, entryPoints: [loaderEntry], write: false });
  const made = await Promise.all(
    Object.entries(entries).map(([name, entry]) => bundled(name, entry, { folder, replaced })),
  );
  const loader = onlyAscii(textOf((await loading).outputFiles));
  const files = new Map([
    ...made.flatMap((one) => one.files),
    ...Object.keys(entries).map((name): [string, string] => [join(folder, `${name}.js`), loader]),
    [join(folder, "package.json"), `${JSON.stringify(ownManifest(), null, 2)}\n`],
  ]);
  await rm(folder, { recursive: true, force: true });
  for (const path of files.keys()) await mkdir(dirname(path), { recursive: true });
  await Promise.all([...files].map(([path, text]) => writeFile(path, text)));
  return [...new Set(["package.json", loaderEntry, ...made.flatMap((one) => one.inputs)])];
};

const isForBundles = async (folder: string): Promise<boolean> => {
  const names = await readdir(folder).catch((): string[] => []);
  return names.length === 0 || names.includes("apply-plans.js");
};

type Into = { folder: string; replaced: Replaced };
/** The files of one entry, by their paths, and what they were made of. */
type Bundled = { files: [string, string][]; inputs: string[] };

const bundled = async (name: string, entry: string, { folder, replaced }: Into): Promise<Bundled> => {
  const { outputFiles, metafile } = await build({
    ...common,
    plugins: [replacing(replaced), threadAddresses, withoutHttp2, smallerPackages],
    entryPoints: { main: entry },
    outdir: join(folder, name),
    splitting: true,
    sourcemap: "inline",
    sourcesContent: false,
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs).filter((path) => !path.includes(":")); // a plugin's own has a ":"
  return { files: (await Promise.all(outputFiles.map(cjsOf))).flat(), inputs };
};

const common = {
  absWorkingDir: rootDir,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  external: [...leftOutside],
  legalComments: "none",
  minifyWhitespace: true,
  lineLimit: 120, // a stack trace of what has no map leads to a place that can be read
  logLevel: "warning",
} satisfies BuildOptions;

const loaderEntry = "core/runtime/process/bundle-entry.ts";

/** Node begins a file of CommonJS without its loader of ES modules, for which no program has another use. */
const asCommonJs = {
  format: "cjs",
  define: { "import.meta.url": "entryUrl" },
  banner: { js: '"use strict";const entryUrl=require("node:url").pathToFileURL(__filename).href;' },
} satisfies BuildOptions;

const textOf = ([file]: readonly OutputFile[]): string => file?.text ?? "";

const cjsOf = async ({ path, text }: OutputFile): Promise<[string, string][]> => {
  if (text.includes('new URL("worker.ts"'))
    throw new Error(`${path} has a thread that is missing in the bundle's threads`);
  const place = join(dirname(path), `${basename(path, ".js")}.cjs`);
  const { code, map } = await wrapped(text);
  return [
    [place, onlyAscii(code)],
    [`${place}.map`, namedFromRoot(map, dirname(place))],
  ];
};

/** A source map with the sources' names in the repository, wherever the bundles are made. */
const namedFromRoot = (map: string, folder: string): string => {
  const parsed = JSON.parse(map) as { sources: string[] }; // as esbuild writes it
  const nameOf = (one: string) => (one.includes(":") ? one : relative(rootDir, resolve(folder, one))); // a plugin's own has a ":"
  return JSON.stringify({ ...parsed, sources: parsed.sources.map(nameOf) });
};

const ownManifest = () => {
  const { name, version, license } = manifest;
  const dependencies = Object.fromEntries(leftOutside.map((one) => [one, manifest.dependencies[one]]));
  return { name, version, private: true, type: "commonjs", license, dependencies };
};

/**
 * V8 keeps a file with one character beyond ASCII at two bytes a character. esbuild leaves such characters in regular
 * expressions alone, where an escape means the same.
 */
const onlyAscii = (text: string): string =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Leads the addresses of threads to their bundles. */
const threadAddresses: Plugin = {
  name: "thread addresses",
  setup: (building) => {
    building.onLoad({ filter: new RegExp(`/(${threads.join("|")})/[^/]+\\.ts$`) }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const name = threadName(relative(rootDir, dirname(path)));
      return { contents: source.replace(address, `new URL("${name}.js", import.meta.url)`), loader: "ts" };
    });
  },
};

const address = 'new URL("worker.ts", import.meta.url)';

/**
 * Leaves HTTP/2 out, which packages would load and never use: the programs have a client of their own for it
 * (dispatcher/net/http2).
 */
const withoutHttp2: Plugin = {
  name: "without HTTP/2",
  setup: (building) => {
    building.onResolve({ filter: /^(node:)?http2$/ }, () => ({ path: "http2", namespace: "left out" }));
    building.onLoad({ filter: /./, namespace: "left out" }, () => ({ contents: noHttp2 }));
  },
};

const noHttp2 = `
  exports.constants = {};
  exports.connect = () => { throw new Error("node:http2 is not in the bundle: see dev/bundle"); };
`;
