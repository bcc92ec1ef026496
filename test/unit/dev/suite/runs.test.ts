import { expect } from "chai";
import { alone, sharingOneProcess } from "../../../../dev/suite/neighbours.ts";
import { filesIn, runsOf } from "../../../../dev/suite/runs.ts";

describe("the runs of the suite", () => {
  const files = ["unit", "conformance", "integration", "chaos", "chart"].flatMap(filesIn);
  const runs = runsOf(files);

  it("have every file once", () => {
    expect(runs.flatMap((run) => run.files)).to.have.members(files);
  });

  it("have a file that is not known yet first", () => {
    const [first] = runsOf([
      "test/chaos/messages/kill.test.ts",
      "test/chaos/messages/stop.test.ts",
      "test/integration/new.test.ts",
    ]);
    expect(first?.files).to.deep.equal(["test/integration/new.test.ts"]);
  });

  it("have those in one process that cannot run side by side", () => {
    for (const { files: some } of sharingOneProcess) {
      const of = runs.filter((run) => run.files.some((file) => some.includes(file)));
      expect(of, some.join()).to.have.length(1);
      expect(of[0]?.files).to.have.members(some);
    }
  });

  it("have those alone that judge time, and there are such files", () => {
    expect(runs.filter(({ isAlone }) => isAlone).flatMap((run) => run.files)).to.have.members(alone);
  });
});
