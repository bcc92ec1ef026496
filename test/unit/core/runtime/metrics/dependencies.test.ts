import { expect } from "chai";
import { Registry } from "prom-client";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";

describe("herald_dependency_up", () => {
  it("asks with each scrape, and tells who answers and who does not", async () => {
    const registry = new Registry();
    let isThere = false;
    const redis = () => (isThere ? Promise.resolve() : Promise.reject(new Error("away")));
    watchDependencies(registry, { mongodb: () => Promise.resolve(), redis });
    expect(await registry.metrics())
      .to.include('{dependency="mongodb"} 1')
      .and.to.include('{dependency="redis"} 0');
    isThere = true;
    expect(await registry.metrics()).to.include('{dependency="redis"} 1');
  });

  it("counts one that does not answer within a second as away", async () => {
    const registry = new Registry();
    watchDependencies(registry, { mongodb: () => new Promise(() => {}) });
    expect(await registry.metrics()).to.include('{dependency="mongodb"} 0');
  });
});
