import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, planStream, webhookConsumer } from "#core/queue/jetstream/topology.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type Installation, installation } from "../../../support/api/api.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { partitionOf, testPartitioning } from "../../../support/rows/partitioning.ts";
import { readEvents } from "../../../support/system/events.ts";
import { until } from "../../../support/until.ts";

describe("what follows from an accepted notification", () => {
  let site: Installation;
  let nats: Nats;
  let tenant: Awaited<ReturnType<typeof seedTenant>>;
  const trace = "0af7651916cd43dd8448eb211c80319c";

  before(async () => {
    site = await installation();
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    await ensureStream(nats.jsm, eventStream(site.name, timings.short, testPartitioning));
    await ensureStream(nats.jsm, planStream(site.name, { name: "tiny-backlog", backlogPerTenant: 3 }, timings.short));
    tenant = await seedTenant(site.db, { plan: { _id: "tiny-backlog" } });
  });
  after(async () => {
    for (const { stream } of [
      eventStream(site.name, timings.short, testPartitioning),
      planStream(site.name, { name: "tiny-backlog", backlogPerTenant: 3 }, timings.short),
    ]) {
      await nats.jsm.streams.delete(stream.name);
    }
    await nats.close();
    await site.close();
  });

  const rows = () => collectionOf<MessageRow>(site.db, messageCollection);
  const send = (more: object = {}) =>
    site.api.call("POST", "/v1/notifications", {
      token: tenant.token,
      headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
      body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" }, ...more },
    });
  const pull = async (stream: string, consumer: string) => {
    const message = await (await nats.js.consumers.get(stream, consumer)).next({ expires: 5_000 });
    expect(message, `a message for ${consumer}`).to.not.equal(null);
    await message?.ackAck(); // it makes room, and is counted no more
    return { subject: message?.subject, traceparent: message?.headers?.get("traceparent"), data: message?.json() };
  };
  const hint = () => pull(`${site.name}-work-tiny-backlog`, "plan");
  const waiting = async () => (await nats.jsm.streams.info(`${site.name}-work-tiny-backlog`)).state.messages;

  it("is a hint for the dispatchers and the event message.queued, both with its trace, then an empty outbox", async () => {
    const { body } = await send({ name: "n" });
    const published = await hint();
    expect([published.subject, published.data]).to.deep.equal([
      `${site.name}.plan.tiny-backlog.${tenant.tenant._id}`,
      { message_id: body.id },
    ]);
    const event = await pull(
      eventStream(site.name, timings.short, testPartitioning).stream.name,
      webhookConsumer(partitionOf(tenant.app._id)),
    );
    expect(event.subject).to.equal(`${site.name}.app-events.16.${partitionOf(tenant.app._id)}.${tenant.tenant._id}`);
    const [envelope] = event.data as EventEnvelope[];
    const shown = await site.api.call("GET", `/v1/notifications/${body.id}`, { token: tenant.token });
    expect(envelope).to.deep.include({ type: "message.queued", subject_id: body.id, app_id: tenant.app._id });
    expect(envelope?.data).to.deep.include({ ...shown.body, message_id: body.id, delivery_id: null });
    for (const { traceparent } of [published, event]) expect(traceparent).to.match(new RegExp(`^00-${trace}-`));
    await until(async () => (await rows().findOne({ _id: body.id }))?.outbox.length === 0);
  });

  it("is no hint yet when it is for later", async () => {
    const { body } = await send({ send_after: new Date(Date.now() + 3_600_000).toISOString() });
    await until(async () => (await rows().findOne({ _id: body.id }))?.outbox.length === 0);
    expect(await waiting()).to.equal(0);
  });

  it("stays in MongoDB, due, when the tenant's backlog is full", async () => {
    const sent = [];
    for (let n = 0; n < 5; n++) sent.push(await send());
    expect(sent.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202, 202]);
    await until(async () => (await waiting()) === 3);
    const due = await rows().countDocuments({ _id: { $in: sent.map(({ body }) => body.id) }, due_at: { $ne: null } });
    expect(due).to.equal(5);
    for (let n = 0; n < 3; n++) await hint();
  });

  it("is an event that fits the queue even when the message does not", async () => {
    const reading = await readEvents(site.servers.natsUrl, site.name);
    const texts = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [
        `a${String.fromCharCode(97 + (n % 26))}${n < 26 ? "" : "x"}`,
        "é".repeat(3_000),
      ]),
    );
    const { status, body } = await send({
      target: { all: true, channels: ["email"] },
      email_subject: "s",
      email_body: "ü".repeat(400_000),
      contents: texts,
    });
    expect(status).to.equal(202);
    await until(async () => (await rows().findOne({ _id: body.id }))?.outbox.length === 0);
    expect((await rows().findOne({ _id: body.id }))?.content.email_body).to.have.length(400_000);
    await until(() => reading.about(body.id).length === 1);
    await reading.close();
    expect(reading.about(body.id)[0], "says that it was cut").to.include({ type: "message.queued", truncated: true });
    await hint();
  });

  it("publishes no hint again after a cancel: the message is idle once its event is out", async () => {
    const { body } = await send({ send_after: new Date(Date.now() + 3_600_000).toISOString() });
    await until(async () => (await rows().findOne({ _id: body.id }))?.outbox.length === 0);
    await site.api.call("DELETE", `/v1/notifications/${body.id}`, { token: tenant.token });
    expect(await rows().findOne({ _id: body.id })).to.deep.include({ status: "cancelled", due_at: null, lease: null });
  });
});
