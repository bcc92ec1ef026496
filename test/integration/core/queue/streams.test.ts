import { expect } from "chai";
import type { Nats } from "#core/queue/connect.ts";
import { publisher } from "#core/queue/publish.ts";
import { ensureStream } from "#core/queue/streams.ts";
import { planStream } from "#core/queue/topology.ts";
import { testServers } from "../../../support/servers.ts";
import { openQueue } from "./helpers.ts";

describe("the limits of a plan's stream", function () {
  this.timeout(30_000);
  const prefix = `streams_${process.pid}`;
  const specOf = (backlogPerTenant: number) => planStream(prefix, { name: "free", backlogPerTenant });
  const { name } = specOf(1).stream;
  let nats: Nats;

  beforeEach(async () => {
    nats = await openQueue((await testServers()).natsUrl, specOf(100));
  });
  afterEach(async () => {
    await nats.jsm.streams.delete(name);
    await nats.close();
  });

  const publish = (tenant: string) => publisher(nats).publish(`${prefix}.plan.free.${tenant}`, { message_id: "msg_1" });
  const fill = (tenant: string, count: number) => Promise.all(Array.from({ length: count }, () => publish(tenant)));
  const info = () => nats.jsm.streams.info(name, { subjects_filter: ">" });
  const limit = async () => (await info()).config.max_msgs_per_subject;
  /** Takes some of what waits, as a dispatcher does. */
  const work = async (count: number): Promise<void> => {
    const messages = await (await nats.js.consumers.get(name, "plan")).fetch({ max_messages: count, expires: 5_000 });
    for await (const message of messages) await message.ackAck();
  };
  const ensure = (backlog: number) => ensureStream(nats.jsm, specOf(backlog));

  it("are raised at once, and lowered at once when little waits", async () => {
    await fill("ten_1", 5);
    expect([await ensure(200), await limit()]).to.deep.equal(["updated", 200]);
    expect([await ensure(5), await limit()]).to.deep.equal(["updated", 5]);
    expect([await ensure(5), (await info()).state.messages]).to.deep.equal(["unchanged", 5]);
    expect(await publish("ten_1")).to.equal("refused");
    expect(await publish("ten_2")).to.equal("published");
  });

  it("follow what waits when they are lowered below it, and drop nothing", async () => {
    await fill("ten_1", 50);
    await fill("ten_2", 5);
    expect([await ensure(10), await limit()]).to.deep.equal(["draining", 50]);
    expect([await ensure(10), (await info()).state.messages]).to.deep.equal(["draining", 55]);
    expect(await publish("ten_1")).to.equal("refused");
    expect(await publish("ten_2")).to.equal("published");
    await work(20);
    expect([await ensure(10), await limit()]).to.deep.equal(["draining", 30]);
    await work(36);
    expect([await ensure(10), await limit()]).to.deep.equal(["updated", 10]);
    expect((await info()).state.messages).to.equal(0);
    expect(await ensure(10)).to.equal("unchanged");
  });

  it("lose nothing that is published while they are lowered", async () => {
    const over = new AbortController();
    let published = 0;
    const callers = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) if ((await publish("ten_1")) === "published") published++;
    });
    for (let backlog = 95; backlog > 0; backlog -= 5) await ensure(backlog);
    over.abort();
    await Promise.all(callers);
    expect((await info()).state.messages).to.equal(published);
    expect(published).to.be.greaterThan(0);
  });

  it("are made right when a kill left the stream closed while it was measured", async () => {
    await fill("ten_1", 20);
    await nats.jsm.streams.update(name, { ...specOf(100).stream, max_msgs: 1 });
    expect(await publish("ten_2")).to.equal("refused");
    expect(await ensure(10)).to.equal("draining");
    expect([await publish("ten_2"), await publish("ten_1")]).to.deep.equal(["published", "refused"]);
    expect((await info()).state.messages).to.equal(21);
  });
});
