import { expect } from "chai";
import { sendTo } from "../../dev/demo/send.ts";
import { slowness } from "../support/suite/slowness.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { type System, samplesNamespace, system } from "./support/system.ts";

describe("a message from the cluster", () => {
  let at: System;

  before(async () => {
    at = await system();
  });

  it("arrives at the provider of each channel, and a signed webhook tells of it", async () => {
    const { rest } = await at.client();
    const evidence = await Promise.all((await at.people()).map((person) => sendTo(person, rest, at.at)));
    for (const { channel, received, delivery, event, isVerified } of evidence) {
      expect({ channel, delivery, event, isVerified }).to.deep.equal({
        channel,
        delivery: "sent",
        event: "delivery.sent",
        isVerified: true,
      });
      expect(received, channel).to.be.a("string");
    }
  });

  it("is the first event of a new Webhook within 2 s of kubectl apply (p99 of 20)", async () => {
    const tookMs: number[] = [];
    const { failures } = await at.underLoad(10, async () => {
      for (let n = 0; n < 20; n++) tookMs.push(await firstEvent(at, n));
    });
    tookMs.sort((a, b) => a - b);
    console.log(`      kubectl apply → first event: median ${tookMs[10]} ms, p99 (slowest) ${tookMs[19]} ms`);
    expect(failures).to.deep.equal([]);
    expect(tookMs[19]).to.be.at.most(2_000 * slowness());
  });
});

/** Applies a Webhook while messages are sent, and waits until its endpoint is called; ms from before the command. */
const firstEvent = async ({ cluster, inbox, env }: System, n: number): Promise<number> => {
  const path = `/applied-${n}`;
  const webhook = {
    apiVersion: "herald.dev/v1alpha1",
    kind: "Webhook",
    metadata: { name: `applied-${n}`, namespace: samplesNamespace },
    spec: {
      appRef: "shop",
      url: `http://${env.host}:${env.portBase + 15}${path}`,
      events: ["delivery.sent"],
      secretName: `applied-${n}-signing`,
    },
  };
  const beganMs = Date.now();
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(webhook) });
  const firstMs = await eventually(`a first event at ${path}`, 20_000, async () => inbox.firstAt(path));
  await cluster.kubectl(["delete", "webhook", `applied-${n}`, "--namespace", samplesNamespace]);
  return firstMs - beganMs;
};
