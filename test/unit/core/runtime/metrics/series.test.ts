import { expect } from "chai";
import { Registry } from "prom-client";
import { combinations, metricsIn } from "#core/runtime/metrics/series.ts";

describe("a counter that begins at zero", () => {
  it("has a series for each combination of its labels before anything is counted", async () => {
    const registry = new Registry();
    const series = combinations({ outcome: ["sent", "failed"], channel: ["email", "ios_push"] });
    const counter = metricsIn(registry).counterFromZero("x_total", "x", series);
    counter.inc({ outcome: "failed", channel: "email" });
    expect((await registry.metrics()).match(/^x_total.*$/gm)).to.have.members([
      'x_total{outcome="sent",channel="email"} 0',
      'x_total{outcome="sent",channel="ios_push"} 0',
      'x_total{outcome="failed",channel="email"} 1',
      'x_total{outcome="failed",channel="ios_push"} 0',
    ]);
  });
});
