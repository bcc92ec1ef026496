import { expect } from "chai";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { controllerMetrics } from "../../../../operator/engine/metrics.ts";
import type { Result } from "../../../../operator/engine/reconcile.ts";
import { vanished } from "../../../../operator/engine/vanished.ts";
import type { Priority } from "../../../../operator/engine/work-queue.ts";
import { workQueue } from "../../../../operator/engine/work-queue.ts";
import { workOn } from "../../../../operator/engine/worker.ts";
import { objectStore } from "../../../../operator/kube/store.ts";

const failed: Result = { kind: "failed", error: new Error("the record went while it was written") };
const written: Result = {
  kind: "done",
  verdict: { ready: { status: "True", reason: "Ready", message: "" }, isChanged: true },
};

/** Makes a pass for each of the given priorities and results; gives the reasons of the Events that were reported. */
const reportedBy = async (...passes: readonly (readonly [Priority, Result])[]): Promise<string[]> => {
  const resource: Resource = { metadata: { name: "gold", uid: "1", resourceVersion: "1", generation: 1 }, spec: {} };
  const store = objectStore<Resource>();
  store.put(resource);
  const results = passes.map(([, result]) => result);
  const reasons: string[] = [];
  const work = workOn({
    store,
    queue: workQueue(),
    open: new Set(),
    gone: vanished(),
    passes: { pass: async () => results.shift() ?? failed, undo: async () => failed },
    onEvent: () => undefined,
    metrics: controllerMetrics(createMetrics("operator"), "plan", 1),
    report: (_, { reason }) => void reasons.push(reason),
  });
  for (const [priority] of passes) await work({ key: "gold", priority, since: 0 }, new AbortController().signal);
  return reasons;
};

describe("a pass over an object", () => {
  it("is a repair when it writes at a resync", async () => {
    expect(await reportedBy(["resync", written])).to.deep.equal(["Repaired"]);
  });

  it("is a repair when it writes after a resync that failed, however often", async () => {
    expect(await reportedBy(["resync", failed], ["again", failed], ["again", written])).to.deep.equal(["Repaired"]);
  });

  it("is none after a change that failed, nor once the object was changed meanwhile", async () => {
    expect(await reportedBy(["changed", failed], ["again", written])).to.deep.equal([]);
    expect(await reportedBy(["resync", failed], ["changed", failed], ["again", written])).to.deep.equal([]);
  });
});
