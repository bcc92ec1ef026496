import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { attemptTool, chartDir, runTool, valuesFiles } from "./support/helm.ts";

describe("the chart", () => {
  const suites = globSync("tests/*_test.yaml", { cwd: chartDir }).toSorted();

  it("has a suite for every template", () => {
    const tested = suites.flatMap((suite) => templatesOf(suite)).map((path) => path.replace(/^templates\//, ""));
    const templates = globSync("**/*.{yaml,txt}", { cwd: join(chartDir, "templates") });
    expect(templates.filter((path) => !tested.includes(path))).to.deep.equal([]);
    expect(suites).to.have.length.of.at.least(25);
  });

  describe("in helm-unittest", () => {
    let printed: string;
    before(async () => {
      printed = (await attemptTool("helm-unittest", ["--strict", chartDir])).stdout;
    });

    for (const suite of suites) {
      it(`passes ${suite}`, () => {
        const result = resultOf(printed, suite);
        if (!/^ *PASS /.test(result)) expect.fail(result);
      });
    }
  });

  for (const [name, path] of Object.entries(valuesFiles)) {
    it(`passes helm lint --strict, for ${name}, which recommends nothing`, async () => {
      expect(await runTool("helm", ["lint", "--strict", "--values", path, chartDir])).to.not.include("[INFO]");
    });
  }

  it("passes helm lint with its values for trials", async () => {
    await runTool("helm", ["lint", "--strict", "--values", join(chartDir, "values-trial.yaml"), chartDir]);
  });
});

const templatesOf = (suite: string): string[] => {
  const { templates } = parse(readFileSync(join(chartDir, suite), "utf8")) as { templates: string[] }; // every suite has it
  return templates;
};

/** What was printed about a suite: whether it passed and, when it failed, why. */
const resultOf = (printed: string, suite: string): string => {
  const results = printed.split(/^(?= *(?:PASS|FAIL) )/m);
  return (
    results.find((result) => /^.*/.exec(result)?.[0].trimEnd().endsWith(suite)) ?? `${suite} did not run:\n${printed}`
  );
};
