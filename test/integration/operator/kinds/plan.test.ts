import { expect } from "chai";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { subjects } from "#core/queue/subjects.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: a plan and its stream", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let plan: string;
  let stream: string;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    plan = `${herald.id}-plan`;
    stream = `${herald.id}-work-${plan}`;
    await herald.start({ settings: { resyncSeconds: 2 } });
    await herald.apply(make.plan({ backlogPerTenant: 100 }));
    await herald.ready(make.plan());
  });
  after(() => herald?.close());

  const info = () => herald.nats.jsm.streams.info(stream);
  const waiting = async () => (await info()).state.messages;
  const limit = async () => (await info()).config.max_msgs_per_subject;
  const publish = (tenant: string) =>
    publisher(herald.nats).publish(`${herald.id}.plan.${plan}.${tenant}`, { message_id: "msg_1" });
  const work = async (count: number): Promise<void> => {
    const consumer = await herald.nats.js.consumers.get(stream, "plan");
    for await (const message of await consumer.fetch({ max_messages: count, expires: 5_000 })) await message.ackAck();
  };

  it("comes with the streams that all tenants share, though no dispatcher runs", async () => {
    const to = subjects(herald.id);
    const asked = [to.callbacks("ten_1"), to.customEvents({ groups: 1, group: 0 }, "ten_1"), to.job("export", "exp_1")];
    const results = asked.map((subject) => publisher(herald.nats).publish(subject, {}));
    expect(await Promise.all(results)).to.deep.equal(["published", "published", "published"]);
  });

  it("gives the stream another limit when the plan says so", async () => {
    await herald.apply(make.plan({ backlogPerTenant: 200 }));
    await until(async () => (await limit()) === 200);
  });

  it("drops nothing that waits when the limit is lowered below it, says so, and follows what is done", async () => {
    await Promise.all(Array.from({ length: 60 }, () => publish("ten_1")));
    await herald.apply(make.plan({ backlogPerTenant: 10 }));
    await until(async () => (await limit()) === 60);
    const { status } = await herald.ready(make.plan());
    expect(status?.conditions?.find(({ type }) => type === "Ready")?.message).to.contain("is lowered as what waits");
    expect([await waiting(), await publish("ten_1")]).to.deep.equal([60, "refused"]);
    await work(55);
    await until(async () => (await limit()) === 10, 25_000);
    expect(await waiting()).to.equal(5);
    const isSaid = async () =>
      (await herald.conditionOf(make.plan(), "Ready"))?.message.includes("lowered as what waits") === false;
    await until(isSaid);
    await work(5);
  });

  it("makes the stream and its consumers again when somebody deleted them, though no dispatcher runs", async () => {
    await herald.nats.jsm.consumers.delete(stream, "deliver");
    const isWhole = async () =>
      (await herald.nats.jsm.consumers.info(stream, "deliver").catch(() => null))?.config.filter_subject ===
      `${herald.id}.deliver.${plan}.*`;
    await until(isWhole, 25_000);
    await herald.nats.jsm.streams.delete(stream);
    await until(async () => isWhole(), 25_000);
    expect(await limit()).to.equal(10);
    expect(await publish("ten_1")).to.equal("published");
  });

  it("takes the stream away with the plan, and not before its last tenant", async () => {
    await herald.apply(make.tenant());
    await herald.ready(make.tenant());
    await herald.remove(make.plan());
    await herald.ready(make.plan(), "False", "InUse");
    expect((await info()).config.name).to.equal(stream);
    await herald.remove(make.tenant());
    await herald.gone(make.plan());
    expect(await info().catch(() => null)).to.equal(null);
  });
});
