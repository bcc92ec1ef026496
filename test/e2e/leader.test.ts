import { expect } from "chai";
import { slowness } from "../support/suite/slowness.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { leader, nextLeader, nextReconcile } from "./support/leader.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

describe("when the leading operator's pod goes", function () {
  this.timeout(300_000);
  let at: System;

  before(async () => {
    at = await system();
  });
  afterEach(() => at.release.settled());

  /** `atMs` is in ms since the epoch, `sinceMs` the same of `performance.now()`. */
  const remove = async (...how: string[]): Promise<{ pod: string; atMs: number; sinceMs: number }> => {
    const pod = await eventually("a leader", 40_000, () => leader(at));
    const [atMs, sinceMs] = [Date.now(), performance.now()];
    await at.cluster.kubectl(["delete", "pod", pod, "--namespace", releaseName, "--wait=false", ...how]);
    return { pod, atMs, sinceMs };
  };

  it("the next one leads within 2 s of its deletion", async () => {
    const { pod, atMs } = await remove();
    const tookMs = (await nextLeader(at, pod)) - atMs;
    console.log(`      deleted → next leader: ${Math.round(tookMs)} ms`);
    expect(tookMs).to.be.at.most(2_000 * slowness());
  });

  it("the next one reconciles within 20 s of its forced deletion", async () => {
    const { sinceMs } = await remove("--force", "--grace-period=0");
    const tookMs = await nextReconcile(at, sinceMs);
    console.log(`      deleted by force → a change reconciled: ${Math.round(tookMs)} ms`);
    expect(tookMs).to.be.at.most(20_000 * slowness());
  });
});
