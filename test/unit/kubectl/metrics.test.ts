import { expect } from "chai";
import { watchLevels } from "#core/runtime/metrics/dispatcher.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { valuesOf } from "../../../kubectl/kit/metrics.ts";

describe("the values of a metric, as a program says them", () => {
  it("are found by a label, and are none where there is none", async () => {
    const { registry } = createMetrics("dispatcher");
    watchLevels(registry, { unsaved: () => 1, unsavedLimit: 2, openBreakers: () => ({ ios_push: 3, email: 1 }) });
    const text = await registry.metrics();
    expect([...valuesOf(text, "herald_open_breakers", "channel")]).to.deep.equal([
      ["ios_push", 3],
      ["email", 1],
    ]);
    expect([...valuesOf(text, "herald_unsaved_recipients", "channel")]).to.deep.equal([]);
    expect([...valuesOf(text, "herald_unsaved_recipients", "program")]).to.deep.equal([["dispatcher", 1]]);
  });
});
