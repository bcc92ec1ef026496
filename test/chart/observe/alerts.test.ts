import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { stringify } from "yaml";
import { findTool } from "../../../dev/files/find-tool.ts";
import { alerts, ruleFiles } from "../../support/pages/rules.ts";
import { objectsIn, render, valuesFiles } from "../support/helm.ts";
import { alertCases } from "./alert-cases.ts";
import type { AlertCase, History } from "./histories.ts";

describe("the chart's alerts", () => {
  let dir: string;
  let promtool: string;

  before(async () => {
    promtool = findTool("promtool") ?? expect.fail("promtool is missing: make install-chart-tools");
    dir = await mkdtemp(join(tmpdir(), "alerts-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const run = (...args: string[]) => promisify(execFile)(promtool, args);

  /** Judges what an alert does over two histories, by promtool's own engine. */
  const judge = (alert: string, { at, fires, rests }: AlertCase, ruleFile: string = ruleFileOf(alert)): Promise<void> =>
    play(ruleFile, [story(alert, fires, { at, count: 1 }), story(alert, rests, { at, count: 0 })]);
  const play = async (ruleFile: string, tests: object[]): Promise<void> => {
    const file = join(dir, "tests.yaml");
    await writeFile(file, stringify({ rule_files: [ruleFile], evaluation_interval: "1m", tests }));
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

  for (const [alert, one] of Object.entries(alertCases)) {
    it(`${alert} fires when it should, and rests when it comes near only`, () => judge(alert, one));
  }

  /** The rules of a release in the namespace herald. */
  const rendered = async (): Promise<string> => {
    const objects = objectsIn(await render(valuesFiles["monitoring"] ?? "", "herald"));
    const rule = objects.find(({ kind }) => kind === "PrometheusRule") ?? expect.fail("no PrometheusRule");
    const ruleFile = join(dir, "rendered.yaml");
    await writeFile(ruleFile, stringify(rule.spec));
    return ruleFile;
  };

  it("objectives of a release are judged by its own budget, whatever another installation does", async () => {
    const { at, fires } = alertCases[burnsFast] ?? expect.fail("no case");
    const others = Object.fromEntries(
      Object.entries(fires).map(([series, values]) => [series.replace('"herald"', '"eu"'), values]),
    );
    await play(await rendered(), [
      story(burnsFast, fires, { at, count: 1 }),
      story(burnsFast, others, { at, count: 0 }),
    ]);
  });

  it("HeraldProgramDown of a release misses its own programs, while another installation runs all of its", async () => {
    const ruleFile = await rendered();
    await judge(programDown, { ...down, fires: { ...down.fires, ...elsewhere } }, ruleFile);
    await play(ruleFile, [
      story(programDown, elsewhere, { at: "10m", count: 3 }), // none of its own was ever there
      story(programDown, gone, { at: "20m", count: 3 }),
    ]);
  });

  it("HeraldProgramDown misses what one of several installations lacks, as plain rules too", () =>
    play(ruleFileOf(programDown), [
      story(programDown, { ...down.fires, ...elsewhere }, { at: "10m", count: 1 }),
      story(programDown, { ...down.rests, ...elsewhere }, { at: "10m", count: 0 }),
      story(programDown, { ...gone, ...elsewhere }, { at: "20m", count: 3 }), // each program of the one that is gone
      story(programDown, gone, { at: "20m", count: 3 }),
      story(programDown, {}, { at: "10m", count: 3 }), // nothing was ever there
    ]));
});

const burnsFast = "HeraldApiBudgetBurnsFast";
const programDown = "HeraldProgramDown";
const down = alertCases[programDown] ?? expect.fail("no case");
/** All programs of another installation. */
const elsewhere: History = Object.fromEntries(
  Object.entries(down.rests).map(([series, values]) => [series.replace('"herald"', '"eu"'), values]),
);
/** An installation of which nothing is left after five minutes. */
const gone: History = Object.fromEntries(Object.keys(down.rests).map((series) => [series, "1x5 stale"]));

const ruleFileOf = (alert: string): string =>
  ruleFiles.find((path) => readFileSync(path, "utf8").includes(`alert: ${alert}\n`)) ?? expect.fail(`no rule ${alert}`);

/** A test of promtool: after a history, so many instances of the alert fire. */
const story = (alert: string, history: History, { at, count }: { at: string; count: number }): object => ({
  interval: "1m",
  input_series: Object.entries(history).map(([series, values]) => ({ series, values })),
  promql_expr_test: [
    {
      expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
      eval_time: at,
      exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
    },
  ],
});
