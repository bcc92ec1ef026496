import { expect } from "chai";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { aQueue, keptLog, openQueue, testMetrics } from "./helpers.ts";

describe("messages that take several places each", function () {
  this.timeout(60_000);
  const name = `large_${process.pid}`;
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

  it("are in hand as few at a time, and are all handled", async () => {
    let [now, most, handled] = [0, 0, 0];
    for (let n = 0; n < 10; n++) await publisher(nats).publish(`${name}.a`, { n }); // of 7 bytes
    part = worker({
      nats,
      stream: name,
      consumer: "work",
      concurrency: 8,
      bytesOfPlace: 2,
      timeoutMs: 5_000,
      parse: () => undefined,
      handle: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 50));
        now--;
        handled++;
        return { kind: "done" };
      },
      name: "test worker",
      log: keptLog().log,
      metrics: testMetrics().queue,
    });
    await part.start(new AbortController().signal);
    await until(() => handled === 10);
    expect(most).to.be.within(1, 4);
  });
});
