import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { type Bundle, compiledFolder, loadBundle } from "#core/runtime/process/load-bundle.ts";

const seen: unknown[] = [];
(globalThis as { bundleTestSeen?: unknown[] }).bundleTestSeen = seen;

/** What a file of a bundle is: see dev/bundle/wrapped.ts. */
const wrapped = (body: string): string => `(function(exports,require,module,entryUrl){\n${body}})`;

describe("a bundle", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "herald-bundle-"));
    seen.length = 0;
    await put("app/main.cjs", wrapped(`globalThis.bundleTestSeen.push(require("./part.cjs").name, entryUrl);`));
    await put("app/part.cjs", wrapped(`exports.name = require("node:path").basename("/a/part");`));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const put = async (file: string, content: string | Buffer): Promise<void> => {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  const entry = (): string => pathToFileURL(join(folder, "app.js")).href;
  const keep = async ({ loaded }: Bundle): Promise<void> => {
    for (const [file, script] of loaded)
      await put(join(compiledFolder, process.arch, `${file}.code`), script.createCachedData());
  };
  const rejections = ({ loaded }: Bundle) => [...loaded.values()].map((script) => script.cachedDataRejected);

  it("gives its files what a module of CommonJS has, and the address of its entry", () => {
    const { loaded } = loadBundle(entry());
    expect(seen).to.deep.equal(["part", entry()]);
    expect([...loaded.keys()]).to.deep.equal(["app/main.cjs", "app/part.cjs"]);
  });

  it("runs each file once, also where two need each other", async () => {
    await put("app/main.cjs", wrapped(`exports.of = "main"; require("./part.cjs"); require("./part.cjs");`));
    await put("app/part.cjs", wrapped(`globalThis.bundleTestSeen.push(require("./main.cjs").of);`));
    loadBundle(entry());
    expect(seen).to.deep.equal(["main"]);
  });

  it("takes the code that was kept of it", async () => {
    await put("app/part.cjs", wrapped(`exports.name = ${JSON.stringify(folder)};`)); // V8 knows no text that it has seen
    const first = loadBundle(entry());
    expect(rejections(first)).to.deep.equal([undefined, undefined]);
    await keep(first);
    expect(rejections(loadBundle(entry()))).to.deep.equal([false, false]);
    expect(seen).to.deep.equal([folder, entry(), folder, entry()]);
  });

  it("compiles a file whose code cannot be used", async () => {
    await put("app/part.cjs", wrapped(`exports.name = "not compiled before";`));
    await put(join(compiledFolder, process.arch, "app/part.cjs.code"), Buffer.from("of another version"));
    expect(rejections(loadBundle(entry()))).to.deep.equal([undefined, true]);
    expect(seen).to.deep.equal(["not compiled before", entry()]);
  });

  it("runs a file that failed anew when it is asked for again", async () => {
    await put("app/main.cjs", wrapped(`exports.later = () => require("./part.cjs");`));
    await put("app/part.cjs", wrapped(`exports.half = 1; throw new Error("not now");`));
    const { load } = loadBundle(entry());
    for (let tries = 0; tries < 2; tries++) expect(() => load("part.cjs")).to.throw("not now");
  });

  it("says which file is missing", async () => {
    await rm(join(folder, "app/part.cjs"));
    expect(() => loadBundle(entry())).to.throw("app/part.cjs");
  });
});
