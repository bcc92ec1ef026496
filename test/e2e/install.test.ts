import { expect } from "chai";
import { programs } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

describe("the chart on real nodes", function () {
  this.timeout(400_000);
  let at: System;

  before(async () => {
    at = await system();
  });

  it("is installed by helm install --wait into a namespace that enforces restricted Pod Security", async () => {
    await at.release.install(at.at.rest);
    await at.release.settled();
  });

  it("has the pods of each program on different nodes", async () => {
    for (const program of programs) {
      const nodes = (await at.release.pods(program)).map(({ spec }) => spec.nodeName);
      expect(new Set(nodes), program).to.have.property("size", 2);
    }
  });

  it("brings the plans, and they become ready", async () => {
    await at.cluster.kubectl(["wait", "plans.herald.dev", "--all", "--for=condition=Ready", "--timeout=60s"], {
      timeoutMs: 90_000,
    });
    expect(await at.cluster.list(["plans.herald.dev"])).to.have.length(4);
  });

  it("is found working by helm test, again too, which shows what it asked", async () => {
    for (const round of ["first", "second"]) {
      const printed = await at.release.test();
      expect(printed, round).to.match(/Phase:\s+Succeeded/);
      expect(printed.match(/^(200|401) http:\S+ ok$/gm), round).to.have.length(5);
    }
  });

  it("makes config/samples true", async () => {
    await at.applySamples();
  });
});
