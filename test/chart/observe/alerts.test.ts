import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { stringify } from "yaml";
import { findTool } from "../../../dev/find-tool.ts";
import { alerts, ruleFiles } from "../../support/rules.ts";
import { alertCases, type History } from "./alert-cases.ts";

describe("the chart's alerts", function () {
  this.timeout(60_000);
  let dir: string;
  let promtool: string;

  before(async () => {
    promtool = findTool("promtool") ?? expect.fail("promtool is missing: make install-chart-tools");
    dir = await mkdtemp(join(tmpdir(), "alerts-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const run = (...args: string[]) => promisify(execFile)(promtool, args);

  /** Judges what an alert does over a history, by promtool's own engine. */
  const judge = async (alert: string, { history, at, count }: { history: History; at: string; count: number }) => {
    const file = join(dir, `${alert}-${count}.yaml`);
    const test = {
      interval: "1m",
      input_series: Object.entries(history).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
          eval_time: at,
          exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
        },
      ],
    };
    await writeFile(file, stringify({ rule_files: ruleFiles, evaluation_interval: "1m", tests: [test] }));
    await run("test", "rules", file).catch(({ stdout, stderr }: { stdout: string; stderr: string }) =>
      expect.fail(`${stdout}${stderr}`),
    );
  };

  it("are rules that Prometheus takes", async () => {
    const { stdout } = await run("check", "rules", ...ruleFiles);
    expect(stdout).to.include("SUCCESS").and.not.to.include("FAILED");
  });

  it("have a case each", () => {
    expect(Object.keys(alertCases).sort()).to.deep.equal(alerts.map(({ alert }) => alert).sort());
  });

  for (const [alert, { at, fires, rests }] of Object.entries(alertCases)) {
    it(`${alert} fires when it should`, () => judge(alert, { history: fires, at, count: 1 }));
    it(`${alert} rests when it comes near only`, () => judge(alert, { history: rests, at, count: 0 }));
  }
});
