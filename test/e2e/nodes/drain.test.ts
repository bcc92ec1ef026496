import { expect } from "chai";
import { eventually } from "../support/cluster/cluster.ts";
import { type ProgramName, programs, releaseName } from "../support/release.ts";
import { type System, system } from "../support/system.ts";

describe("maintenance of a node", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;
  let node: string;

  before(async () => {
    at = await system();
    node = (await at.cluster.nodes()).at(1)?.metadata.name ?? "";
  });
  after(() => at.cluster.kubectl(["uncordon", node]));

  for (const program of programs) {
    it(`may take one pod of ${program}, and not the second before the first is back`, async () => {
      await mayLose(at, program);
      const [first, second] = await at.release.pods(program);
      expect((await evict(at, first?.metadata.name ?? "")).code).to.equal(0);
      const { code, stderr } = await evict(at, second?.metadata.name ?? "");
      expect(code).to.equal(1);
      expect(stderr).to.contain("violate the pod's disruption budget");
      await at.release.settled();
    });
  }

  it("drains it without a failed request or a lost message", async () => {
    const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--timeout=300s"];
    const ours = ["--pod-selector", `app.kubernetes.io/instance=${releaseName}`];
    const { accepted, failures } = await at.underLoad(10, async () => {
      await at.cluster.kubectl(["drain", node, ...options, ...ours], { timeoutMs: 310_000 });
      await at.release.settled();
    });
    console.log(`      ${accepted.length} requests accepted, ${failures.length} failed`);
    expect(failures).to.deep.equal([]);
    const left = await Promise.all(programs.map(at.release.pods));
    expect(left.flat().filter(({ spec }) => spec.nodeName === node)).to.deep.equal([]);
    await at.inbox.delivered(accepted, 60_000);
  });
});

/** Waits until the budget has counted both pods: it does so a moment after they are ready. */
const mayLose = async ({ cluster }: System, program: ProgramName): Promise<void> => {
  await eventually(`the budget of ${program} lets one pod go`, 60_000, async () => {
    const { status } = await cluster.get(["poddisruptionbudget", `herald-${program}`, "--namespace", releaseName]);
    return status.disruptionsAllowed === 1 ? true : null;
  });
};

const evict = ({ cluster }: System, name: string) => {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: releaseName } };
  const path = `/api/v1/namespaces/${releaseName}/pods/${name}/eviction`;
  return cluster.tryKubectl(["create", "--raw", path, "-f", "-"], { input: JSON.stringify(eviction) });
};
