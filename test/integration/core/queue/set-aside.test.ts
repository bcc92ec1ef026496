import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { aQueue, keptLog, openQueue, testMetrics } from "./helpers.ts";

describe("a hint that fails again and again", function () {
  this.timeout(60_000);
  const name = `aside_${process.pid}`;
  let nats: Nats;
  let part: Part | undefined;

  before(async () => {
    nats = await openQueue((await testServers()).natsUrl, aQueue(name));
  });
  after(async () => {
    await part?.stop(AbortSignal.timeout(100));
    await nats.jsm.streams.delete(name);
    await nats.close();
  });

  it("is counted from the fifth time on, unless it fails because a store is away", async () => {
    const metrics = testMetrics().queue;
    const asides = async () => (await metrics.setAside.get()).values.map(({ labels, value }) => [labels, value]);
    const failed: number[] = [];
    part = worker<{ n: number }>({
      nats,
      stream: name,
      consumer: "work",
      concurrency: 8,
      timeoutMs: 5_000,
      parse: (input) => input as { n: number },
      handle: async ({ n }, { attempt }) => {
        if (attempt < 5) return { kind: "retry", delayMs: 1, reason: "not yet" };
        if (attempt > 5) return { kind: "done" };
        failed.push(n);
        throw n === 0 ? new TypeError("no") : new Unavailable("MongoDB");
      },
      name: "test worker",
      log: keptLog().log,
      metrics,
    });
    await part.start(new AbortController().signal);
    expect(await asides()).to.deep.equal([[{ source: "work" }, 0]]);
    for (const n of [0, 1]) await publisher(nats).publish(`${name}.a`, { n });
    await until(() => failed.length === 2);
    await until(async () =>
      (await metrics.messages.get()).values.some(({ labels, value }) => labels.settlement === "failed" && value === 2),
    );
    expect(await asides()).to.deep.equal([[{ source: "work" }, 1]]);
  });
});
