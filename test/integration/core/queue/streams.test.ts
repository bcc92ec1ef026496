import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import {
  eventBatchesPerTenant,
  eventStream,
  formerEventStream,
  planStream,
  type StreamSpec,
} from "#core/queue/jetstream/topology.ts";
import { streamsPart } from "../../../../dispatcher/work/streams.ts";
import { testPartitioning } from "../../../support/rows/partitioning.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { keptLog, openQueue } from "./helpers.ts";

describe("the limits of a plan's stream", () => {
  const prefix = `streams_${process.pid}`;
  const specOf = (backlogPerTenant: number) => planStream(prefix, { name: "free", backlogPerTenant }, timings.short);
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

describe("the stream of events of an older release", () => {
  const prefix = `older_${process.pid}`;
  const { stream: wanted, consumers } = formerEventStream(prefix, timings.short);
  const { name, subjects, retention, storage, discard, max_bytes, duplicate_window } = wanted; // no share for a tenant
  const olderStream = { name, subjects, retention, storage, discard, max_bytes, duplicate_window };
  const older = { stream: olderStream, consumers } as StreamSpec; // sound: each is set
  let nats: Nats;

  beforeEach(async () => {
    nats = await openQueue((await testServers()).natsUrl, older);
  });
  afterEach(async () => {
    await nats.jsm.streams.delete(wanted.name);
    await nats.close();
  });
  const info = () => nats.jsm.streams.info(wanted.name);
  const take = async (count: number): Promise<void> => {
    const messages = await (await nats.js.consumers.get(wanted.name, "webhooks")).fetch({
      max_messages: count,
      expires: 5_000,
    });
    for await (const message of messages) message.ack();
    await nats.nc.flush();
  };

  it("gets a share for each tenant, and keeps what is in it", async () => {
    for (let n = 0; n < 20; n++) await publisher(nats).publish(`${prefix}.events.app_1.delivery.sent`, []);
    expect(await ensureStream(nats.jsm, formerEventStream(prefix, timings.short))).to.equal("updated");
    const { config, state } = await info();
    expect(config).to.include({
      max_msgs_per_subject: eventBatchesPerTenant,
      discard_new_per_subject: true,
      max_msgs: -1,
    });
    expect(state.messages).to.equal(20);
    expect(await ensureStream(nats.jsm, formerEventStream(prefix, timings.short))).to.equal("unchanged");
    await take(20);
    await until(async () => (await info()).state.messages === 0);
  });

  it("takes what dispatchers of the older release publish, which leave it as it is", async () => {
    await ensureStream(nats.jsm, formerEventStream(prefix, timings.short));
    expect(await ensureStream(nats.jsm, { ...older, consumers: [] })).to.equal("unchanged");
    expect(await publisher(nats).publish(`${prefix}.events.app_1.delivery.sent`, [])).to.equal("published");
  });

  it("loses nothing when it holds more than a share, and has its limit once that is done", async () => {
    const stored = eventBatchesPerTenant + 100;
    for (let n = 0; n < stored; n++) nats.nc.publish(`${prefix}.events.app_1.delivery.sent`, "[]");
    await until(async () => (await info()).state.messages === stored);
    const { log } = keptLog();
    const part = streamsPart({
      ensure: [() => ensureStream(nats.jsm, formerEventStream(prefix, timings.short))],
      everyMs: 50,
      log,
    });
    await part.start(new AbortController().signal);
    const limit = async () => (await info()).config.max_msgs_per_subject;
    expect([await limit(), (await info()).state.messages]).to.deep.equal([stored, stored]);
    expect(await publisher(nats).publish(`${prefix}.events.ten_2`, [])).to.equal("published");
    await take(200);
    await until(async () => (await limit()) === eventBatchesPerTenant);
    await part.stop(new AbortController().signal);
    expect((await info()).state.messages).to.equal(stored - 199);
  });
});

describe("a tenant whose hints all fail", () => {
  const prefix = `failing_${process.pid}`;
  const streams = [
    {
      spec: planStream(prefix, { name: "free", backlogPerTenant: 1_500 }, timings.short),
      consumer: "plan",
      subject: `${prefix}.plan.free`,
    },
    {
      spec: eventStream(prefix, timings.short, testPartitioning),
      consumer: "webhooks-7",
      subject: `${prefix}.app-events.16.7`,
    },
  ];
  let nats: Nats;
  afterEach(async () => {
    for (const { spec } of streams) await nats.jsm.streams.delete(spec.stream.name).catch(() => false);
    await nats.close();
  });
  for (const { spec, consumer, subject } of streams) {
    it(`leaves room for another's in the stream ${spec.stream.name.replace(prefix, "")}`, async () => {
      nats = await openQueue((await testServers()).natsUrl, spec);
      const waiting = async () => (await nats.jsm.streams.info(spec.stream.name)).state.messages;
      for (let n = 0; n < 1_200; n++) nats.nc.publish(`${subject}.ten_1`, "{}");
      await until(async () => (await waiting()) === 1_200);
      const reader = await nats.js.consumers.get(spec.stream.name, consumer);
      const failing = await reader.fetch({ max_messages: 1_200, expires: 5_000 });
      for await (const message of failing) message.nak(60_000);
      await publisher(nats).publish(`${subject}.ten_2`, {});
      const next = await reader.next({ expires: 5_000 });
      expect(next?.subject).to.equal(`${subject}.ten_2`);
    });
  }
});
