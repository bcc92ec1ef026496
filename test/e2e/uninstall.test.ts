import { expect } from "chai";
import { allResources } from "#core/channels/all-resources.ts";
import { versionsOf } from "#core/schema/kubernetes/definition.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { inventory } from "./support/cluster/inventory.ts";
import { releaseName } from "./support/release.ts";
import { type System, samplesNamespace, system } from "./support/system.ts";

const versions = [...new Set(allResources.flatMap(versionsOf))].toSorted();

/** What the chart says it keeps: the kinds with their objects, which are the users', and the key ring. */
const kept = [
  ...versions.map((version) => `<none>/APIService/${version}.herald.dev`), // the API server makes them for the kinds
  ...allResources.map(({ plural }) => `<none>/CustomResourceDefinition/${plural}.herald.dev`).toSorted(),
  "herald/Secret/herald-key-ring",
];

/** Helm does not wait for pods: one may take its grace of 40 s, and what is left of it goes after it. */
const goneWithinMs = 120_000;

describe("in the end", function () {
  this.timeout(600_000); // every wait inside has a bound of its own
  let at: System;

  before(async () => {
    at = await system();
  });

  it("a namespace goes with all that is in it, and its tenant, the plans and incidents after it", async () => {
    const timeoutMs = 90_000;
    await at.cluster.kubectl(["delete", "namespace", samplesNamespace, "--timeout=80s"], { timeoutMs });
    await at.cluster.kubectl(
      ["delete", "incidents.herald.dev,tenants.herald.dev,plans.herald.dev", "--all", "--timeout=80s"],
      {
        timeoutMs,
      },
    );
  });

  it("helm uninstall leaves nothing but what is kept on purpose", async () => {
    await at.release.uninstall();
    await at.cluster.kubectl(["delete", "pod", "herald-test", "--namespace", releaseName, "--ignore-not-found"]);
    let left: string[] = [];
    await eventually("nothing is left", goneWithinMs, async () => {
      left = [...(await inventory(at.cluster))].filter((name) => !at.before.has(name)).toSorted();
      return left.length <= kept.length ? true : null;
    }).catch(() => undefined); // what is left is asserted below
    expect(left).to.deep.equal(kept);
  });
});
