import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";
import { rootDir } from "../files/paths.ts";

/** A file of the client as browsers load it. */
export type ClientFile = { name: string; text: string };

/** Each file with what it is built from; the classic one gives `globalThis.Herald`. */
const wanted: Readonly<Record<string, BuildOptions>> = {
  "herald.mjs": { entryPoints: ["client.ts"], format: "esm" },
  "herald.js": { entryPoints: ["client.ts"], format: "iife", globalName: "Herald" },
  "herald-inbox.mjs": { entryPoints: ["inbox/element.ts"], format: "esm" },
  "herald-inbox.js": { entryPoints: ["inbox/element.ts"], format: "iife" },
  "herald-in-app.mjs": { entryPoints: ["renderer/render.ts"], format: "esm" },
  "herald-in-app.js": { entryPoints: ["renderer/render.ts"], format: "iife", globalName: "HeraldInApp" },
  "herald-worker.js": { entryPoints: ["worker/main.ts"], format: "iife" },
  "worker.mjs": { entryPoints: ["worker/worker.ts"], format: "esm" },
};

/** Builds the client for browsers. The same sources give the same bytes. */
export const buildClient = (): ClientFile[] =>
  Object.entries(wanted).map(([name, options]) => {
    const { outputFiles } = buildSync({
      absWorkingDir: join(rootDir, "sdk/web/src"),
      bundle: true,
      minify: true,
      target: "es2022",
      charset: "ascii",
      legalComments: "none",
      write: false,
      logLevel: "warning",
      ...options,
    });
    const [made] = outputFiles ?? [];
    if (made === undefined) throw new Error(`nothing was built of ${name}`);
    return { name, text: made.text };
  });
