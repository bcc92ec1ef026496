import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../dev/files/paths.ts";
import { endProbe, evaluate, type Place, startProbe } from "./support/cluster/probe.ts";
import { programs } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

describe("the metrics of the running pods", () => {
  let at: System;
  let probe: Place;

  before(async () => {
    at = await system();
    probe = await startProbe(at.cluster, at.env, "monitoring");
  });
  after(() => endProbe(at.cluster, probe));

  it("hold every one that the dashboards and alerts of the chart ask for", async () => {
    const pods = (await Promise.all(programs.map(at.release.pods))).flat();
    const texts = await Promise.all(pods.map(({ status }) => scrape(at, probe, status.podIP ?? "")));
    const exposed = new Set(
      texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name)),
    );
    expect(exposed.size).to.be.greaterThan(50);
    const asked = askedFor();
    expect(asked.size).to.be.greaterThan(20);
    expect([...asked].filter((name) => !exposed.has(name))).to.deep.equal([]);
  });

  it("say that exactly one operator leads", async () => {
    const pods = await at.release.pods("operator");
    const texts = await Promise.all(pods.map(({ status }) => scrape(at, probe, status.podIP ?? "")));
    const leading = texts.map((text) => /^leader_election_master_status(?:\{.*\})? (\d)/m.exec(text)?.[1]);
    expect(leading).to.have.members(["0", "1"]);
  });
});

const scrape = (at: System, probe: Place, ip: string): Promise<string> =>
  evaluate(at.cluster, probe, `fetch("http://${ip}:9090/metrics").then((r) => r.text()).then(console.log)`);

/** Names of our programs' metrics in the expressions; a histogram's and a summary's parts have the name of the whole. */
const askedFor = (): Set<string> => {
  const files = globSync(["charts/herald/dashboards/*.json", "charts/herald/alerts/*.yaml"], { cwd: rootDir });
  const expressions = files.flatMap((file) =>
    [...readFileSync(join(rootDir, file), "utf8").matchAll(/"?\bexpr"?: (.*(?:\n {8,}.*)*)/g)].map(
      ([, text = ""]) => text,
    ),
  );
  const names = expressions.flatMap(
    (text) => text.match(/\b(?:herald|controller_runtime|workqueue|leader_election|rest_client)_\w+/g) ?? [],
  );
  return new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, "")));
};
