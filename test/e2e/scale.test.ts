import { expect } from "chai";
import { eventually, isReady } from "./support/cluster/cluster.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

const withinMs = 180_000;

describe("the HorizontalPodAutoscaler", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;

  before(async function () {
    at = await system();
    const { code } = await at.cluster.tryKubectl(["get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"]);
    if (code !== 0) {
      console.log("      pending: the cluster has no metrics-server");
      this.skip();
    }
  });

  after(() => at.release.upgrade("apiserver.autoscaling.enabled=false"));

  const names = async (): Promise<string[]> =>
    (await at.release.pods("apiserver")).filter(isReady).map(({ metadata }) => metadata.name);

  it("keeps the pods that run when it is switched on, adds some while there is load, and fails no request", async () => {
    const before = await names();
    await at.release.upgrade(
      "apiserver.autoscaling.enabled=true",
      "apiserver.autoscaling.maxReplicas=3",
      "apiserver.autoscaling.targetCPUUtilizationPercentage=10",
      "apiserver.autoscaling.behavior.scaleDown.stabilizationWindowSeconds=5",
    );
    expect(await names()).to.include.members(before);
    const during = await at.underLoad(80, () => reaches(at, "load → 3 ready", (ready) => ready > 2));
    const after = await at.underLoad(2, () => reaches(at, "end of load → 2 ready", (ready) => ready === 2));
    expect([...during.failures, ...after.failures]).to.deep.equal([]);
    await at.inbox.delivered([...during.accepted, ...after.accepted], 60_000);
  });
});

const reaches = async ({ cluster }: System, what: string, holds: (ready: number) => boolean): Promise<void> => {
  const beganMs = performance.now();
  await eventually(what, withinMs, async () => {
    const { status } = await cluster.get(["deployment", "herald-apiserver", "--namespace", releaseName]);
    return holds(status.readyReplicas ?? 0) ? true : null;
  });
  console.log(`      ${what}: ${Math.round(performance.now() - beganMs)} ms`);
};
