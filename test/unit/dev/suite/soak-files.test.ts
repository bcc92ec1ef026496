import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../../dev/files/paths.ts";
import { filesIn } from "../../../../dev/suite/runs.ts";
import { soakFiles } from "../../../../dev/suite/soak-files.ts";

describe("make soak", () => {
  const files = soakFiles();
  const all = ["unit", "conformance", "integration", "chaos"].flatMap(filesIn);

  it("runs every file that leaves something to it", () => {
    const leaving = all.filter((file) => readFileSync(join(rootDir, file), "utf8").includes("inSuite("));
    expect(leaving.length).to.be.at.least(10);
    expect(leaving.filter((file) => !files.includes(file) && file !== thisFile)).to.deep.equal([]);
  });

  it("runs files that are there", () => {
    expect(files.filter((file) => !all.includes(file))).to.deep.equal([]);
  });
});

const thisFile = "test/unit/dev/suite/soak-files.test.ts";
