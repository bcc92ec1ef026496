import { expect } from "chai";
import { slowness } from "../../support/suite/slowness.ts";
import { eventually, isReady } from "../support/cluster/cluster.ts";
import type { NodeVerb } from "../support/cluster/environment.ts";
import { leader, nextReconcile } from "../support/leader.ts";
import { clientTimeoutMs } from "../support/load.ts";
import { releaseName } from "../support/release.ts";
import type { System } from "../support/system.ts";

/** The node that is lost: not the control plane's. */
const number = 1;
const noticedWithinMs = 60_000;
const deliveredWithinMs = 120_000;

/**
 * Takes the leader's node away under load and gives it back. Requests may fail only until the cluster has noticed; what
 * was accepted is delivered, another operator leads within 20 s, and in the end everything is as before.
 */
export const loseNode = async (at: System, [away, back]: readonly [NodeVerb, NodeVerb]): Promise<void> => {
  const node = (await at.cluster.nodes())[number]?.metadata.name ?? "";
  await at.release.spread();
  await leadOn(at, node);
  const times = { ledMs: Infinity, noticedAtMs: Infinity };
  const { accepted, failures } = await at.underLoad(10, async () => {
    const lostMs = await at.cluster.toNode(away, number);
    times.ledMs = await nextReconcile(at, lostMs);
    times.noticedAtMs = await noticed(at, node);
    await rescheduled(at, node);
  });
  await at.cluster.toNode(back, number);
  await at.cluster.kubectl(["wait", "node", node, "--for=condition=Ready", "--timeout=240s"], {
    timeoutMs: 250_000, // far above the 14 s of an idle machine that boots it
  });
  await at.release.settled(); // the pods that were on it have gone
  const late = failures.filter(({ atMs }) => atMs > times.noticedAtMs);
  console.log(
    `      lost → a change reconciled: ${Math.round(times.ledMs)} ms; ${accepted.length} requests accepted, ` +
      `${failures.length} failed before the cluster knew, ${late.length} after`,
  );
  expect(late).to.deep.equal([]);
  expect(accepted).to.not.be.empty;
  await at.inbox.delivered(accepted, deliveredWithinMs);
  expect(times.ledMs).to.be.at.most(20_000 * slowness());
};

/** Has the operator on a node lead: the other one takes over when the leader is deleted. */
const leadOn = async (at: System, node: string): Promise<void> => {
  await eventually(`an operator on ${node} leads`, 60_000, async () => {
    const pods = await at.release.pods("operator");
    const name = await leader(at);
    const leading = pods.find(({ metadata }) => metadata.name === name);
    if (leading?.spec.nodeName === node) return true;
    if (leading !== undefined && pods.filter(isReady).length === 2) {
      await at.cluster.kubectl(["delete", "pod", leading.metadata.name, "--namespace", releaseName, "--wait=false"]);
    }
    return null;
  });
  await at.release.settled();
};

/** When the last request that was sent to the node has failed, in ms since the epoch. */
const noticed = async ({ cluster }: System, node: string): Promise<number> => {
  await eventually(`${node} is not Ready, and no endpoint is on it`, noticedWithinMs, async () => {
    const slices = await cluster.kubectl([
      "get",
      "endpointslices",
      "--namespace",
      releaseName,
      "--selector",
      "kubernetes.io/service-name=herald-apiserver",
      "--output",
      "json",
    ]);
    const { items } = JSON.parse(slices) as { items: { endpoints: Endpoint[] | null }[] }; // discovery.k8s.io/v1
    const there = items.flatMap(({ endpoints }) => endpoints ?? []).filter(({ nodeName }) => nodeName === node);
    return there.every(({ conditions }) => conditions.ready !== true) ? true : null;
  });
  return Date.now() + proxiesHearMs + clientTimeoutMs;
};

const proxiesHearMs = 5_000; // the chart's apiserver.drainSeconds: until then a proxy may send a request there
type Endpoint = { nodeName?: string; conditions: { ready?: boolean } };

const rescheduled = async (at: System, node: string): Promise<void> => {
  await eventually("two ready pods of each program on other nodes", 240_000, async () => {
    const all = await at.release.allPods();
    const elsewhere = all.map((pods) => pods.filter((pod) => isReady(pod) && pod.spec.nodeName !== node));
    return elsewhere.every(({ length }) => length === 2) ? true : null;
  });
};
