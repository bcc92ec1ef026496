import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bundle } from "../../../../dev/bundle/bundle.ts";

describe("the bundles of the programs", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "herald-bundles-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("are not put where something else is, which would be removed", async () => {
    await writeFile(join(folder, "package.json"), "{}");
    const refused = await bundle(folder).catch((error: unknown) => error);
    expect(String(refused)).to.contain("holds something else than bundles");
    expect(await readdir(folder)).to.deep.equal(["package.json"]);
  });
});
