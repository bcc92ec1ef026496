import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { build } from "esbuild";
import { loadBundle } from "#core/runtime/process/load-bundle.ts";
import { sourcePlaces } from "#core/runtime/process/source-lines.ts";
import { wrapped } from "../../../../dev/bundle/wrapped.ts";

const { promise: seen, resolve } = Promise.withResolvers<unknown>();
(globalThis as { wrappedTestSeen?: (what: unknown) => void }).wrappedTestSeen = resolve;

const sources = {
  "main.ts": `
    import { basename } from "node:path";
    import named from "./own.cjs";
    const load = async (): Promise<void> => {
      const { default: later } = await import("./later.cjs");
      const { place } = await import("./place.ts");
      globalThis.wrappedTestSeen([basename(place), named(1), later(2), typeof place]);
    };
    void load();`,
  "own.cjs": "module.exports = (n) => `own ${n}`;",
  "later.cjs": "module.exports = (n) => `later ${n}`;",
  "place.ts": "export const place: string = import.meta.url;",
};

describe("a module of a bundle that is made one of CommonJS", () => {
  let folder: string;
  let maps: Map<string, string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "herald-wrapped-"));
    for (const [name, text] of Object.entries(sources)) await put(`sources/${name}`, text);
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: { main: "sources/main.ts" },
      outdir: join(folder, "app"),
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      sourcemap: "inline",
      write: false,
    });
    maps = new Map();
    for (const { path, text } of outputFiles) {
      const { code, map } = await wrapped(text);
      const name = `${basename(path, ".js")}.cjs`;
      await put(`app/${name}`, code);
      maps.set(name, map);
    }
  });
  after(() => rm(folder, { recursive: true }));

  const put = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };

  it("imports and is imported as before, also later, and knows the address of its entry", async () => {
    loadBundle(pathToFileURL(join(folder, "app.js")).href);
    expect(await seen).to.deep.equal(["app.js", "own 1", "later 2", "string"]);
  });

  it("has a map that leads to the sources, past the line that was put before it", async () => {
    const code = await readFile(join(folder, "app/main.cjs"), "utf8");
    const line = code.split("\n").findIndex((one) => one.includes("wrappedTestSeen"));
    const column = code.split("\n")[line]?.indexOf("globalThis") ?? -1;
    const places = sourcePlaces("file:///app/", () => maps.get("main.cjs") ?? "");
    const [source = ""] = places([{ file: "file:///app/main.cjs", line: line + 1, column: column + 1 }]).values();
    expect(source).to.match(/sources\/main\.ts:7:\d+$/);
  });
});
