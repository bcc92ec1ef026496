import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { planStream } from "#core/queue/jetstream/topology.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { type Server } from "../../../../dev/processes/process.ts";
import { startNats } from "../../../../dev/servers/nats.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";

const specOf = (plan: string) => planStream("copies", { name: plan, backlogPerTenant: 100 }, timings.short);

describe("copies of a stream", () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let nats: Nats;

  before(async () => {
    cluster = await startCluster();
    nats = await connectNats({ url: cluster.servers.map(({ url }) => url).join(","), name: "test" });
  });
  after(async () => {
    await nats.close();
    await cluster.close();
  });

  const publish = (plan: string) => publisher(nats).publish(`copies.plan.${plan}.ten_1`, { message_id: "msg_1" });
  const info = (plan: string) => nats.jsm.streams.info(specOf(plan).stream.name);
  const isConsumerLed = async (): Promise<boolean> => {
    const found = await nats.jsm.consumers.info(specOf("free").stream.name, "plan").catch(() => null);
    return (found?.cluster?.leader ?? "") !== "";
  };
  const copies = async (plan: string) => (await info(plan)).config.num_replicas;

  it("are made of a stream that has but one, and stay for who says no number", async () => {
    const spec = specOf("grown");
    expect(await ensureStream(nats.jsm, spec, 1)).to.equal("created");
    expect(await publish("grown")).to.equal("published");
    expect(await ensureStream(nats.jsm, spec, 3)).to.equal("updated");
    expect([await ensureStream(nats.jsm, spec, 3), await ensureStream(nats.jsm, spec)]).to.deep.equal([
      "unchanged",
      "unchanged",
    ]);
    expect([await copies("grown"), (await info("grown")).state.messages]).to.deep.equal([3, 1]);
  });

  it("keep a stream at work when the server that leads it is lost", async () => {
    await ensureStream(nats.jsm, specOf("free"), 3);
    await until(async () => (await publish("free")) === "published", 30_000); // it refuses until its copies have a leader
    const leader = (await info("free")).cluster?.leader;
    await (cluster.servers.find(({ name }) => name === leader) ?? expect.fail("no leader")).kill();
    await until(async () => (await publish("free").catch(() => "away")) === "published");
    await until(isConsumerLed, 30_000); // it has a leader of its own, elected by itself
    const consumer = await nats.js.consumers.get(specOf("free").stream.name, "plan");
    const taken: string[] = [];
    for await (const message of await consumer.fetch({ max_messages: 2, expires: 10_000 })) {
      await message.ackAck();
      taken.push(message.subject);
    }
    expect(taken).to.deep.equal(["copies.plan.free.ten_1", "copies.plan.free.ten_1"]);
  });

  it("are refused by a single server, in its own words", async () => {
    const spec = planStream(`copies_${process.pid}`, { name: "free", backlogPerTenant: 100 }, timings.short);
    const single = await connectNats({ url: (await testServers()).natsUrl, name: "test" });
    const refusal = await ensureStream(single.jsm, spec, 3).then(String, String);
    await single.close();
    expect(refusal).to.match(/replicas > 1 not supported in non-clustered mode/);
  });
});

/** Three servers of one cluster. */
const startCluster = async () => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "cluster-"));
  const ports = await freePorts(9);
  const at = (index: number): number => ports[index] ?? 0;
  const start = async (index: number): Promise<Server & { name: string }> => {
    const own = { name: `nats-${index}`, port: at(index), monitorPort: at(index + 3) };
    const cluster = { port: at(index + 6), routes: [6, 7, 8].filter((other) => other !== index + 6).map(at) };
    return { ...(await startNats({ dir, ...own, cluster })), name: own.name };
  };
  const servers = await Promise.all([0, 1, 2].map(start)); // one alone is never ready
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    await rm(dir, { recursive: true, force: true });
  };
  return { servers, close };
};
