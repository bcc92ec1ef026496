import { expect } from "chai";
import { eventually } from "./support/cluster.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

const withinMs = 90_000;

describe("the HorizontalPodAutoscaler", function () {
  this.timeout(300_000);
  let at: System;

  before(async function () {
    at = await system();
    const { code } = await at.cluster.tryKubectl(["get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"]);
    if (code !== 0) {
      console.log("      pending: the cluster has no metrics-server");
      this.skip();
    }
  });

  it("adds apiservers while there is load, takes them away after it, and fails no request", async () => {
    await at.release.upgrade(
      "apiserver.autoscaling.enabled=true",
      "apiserver.autoscaling.maxReplicas=3",
      "apiserver.autoscaling.targetCPUUtilizationPercentage=20",
      "apiserver.autoscaling.behavior.scaleDown.stabilizationWindowSeconds=5",
    );
    const load = await at.load(80);
    const grewMs = await reaches(at, (ready) => ready > 2);
    const { accepted, failures } = await load.stop();
    const quiet = await at.load(5);
    const shrankMs = await reaches(at, (ready) => ready === 2);
    const after = await quiet.stop();
    console.log(`      load → 3 ready: ${grewMs} ms; end of load → 2: ${shrankMs} ms; ${accepted.length} accepted`);
    expect([...failures, ...after.failures]).to.deep.equal([]);
    await at.inbox.delivered([...accepted, ...after.accepted], 60_000);
  });
});

const reaches = async ({ cluster }: System, holds: (ready: number) => boolean): Promise<number> => {
  const beganMs = performance.now();
  await eventually("another number of apiservers", withinMs, async () => {
    const { status } = await cluster.get(["deployment", "herald-apiserver", "--namespace", releaseName]);
    return holds(status.readyReplicas ?? 0) ? true : null;
  });
  return Math.round(performance.now() - beganMs);
};
