import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Member } from "#core/domain/webhooks/owners.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { groupOf, partitionOf, testPartitioning } from "../../../support/rows/partitioning.ts";
import { until } from "../../../support/until.ts";
import { webhookTests } from "../../../support/webhooks/dispatchers.ts";

describe("webhooks", () => {
  const {
    db,
    prefix,
    names,
    keys,
    nats,
    answer,
    shift,
    startDispatcher,
    anEndpoint,
    events,
    publish,
    arrived,
    ...stored
  } = webhookTests("webhooks");
  const { deliveriesOf, endpointNow, settled, allTaken } = stored;

  it("deliver an event, signed so that the public library verifies it", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    const [event] = events(endpoint.app_id, 1);
    await publish([event as EventEnvelope]);
    await until(() => arrived(endpoint.path).length === 1);
    const [request] = arrived(endpoint.path);
    expect(request?.verified).to.equal(true);
    expect(JSON.parse(request?.body ?? "")).to.deep.equal(event);
    expect(request?.headers).to.include({
      "service-event-id": event?.id,
      "service-event-type": "delivery.sent",
      "service-attempt": "1",
      "user-agent": "Service-Webhooks/1.0",
      "content-type": "application/json",
      "webhook-id": event?.id,
    });
    await settled(endpoint);
    const delivery = (await deliveriesOf(endpoint))[0];
    expect(delivery).to.include({ status: "success", attempt: 1, due_at: null, error: null });
    expect(delivery?.attempts[0]).to.include({ response_status: 200, error_class: null });
    expect(request?.headers["service-delivery-id"]).to.equal(delivery?._id);
    await until(async () => (await endpointNow(endpoint))?.last_success_at instanceof Date);
  });

  it("are signed with the previous secret too while it is valid", async () => {
    await startDispatcher("a");
    const older = `whsec_${Buffer.alloc(32, 6).toString("base64")}`;
    const endpoint = await anEndpoint();
    const sealed = keys.seal(older, `webhooks/${endpoint._id}/secret`);
    const previous = { secret: sealed, expires_at: new Date(Date.now() + 60_000) };
    await collectionOf<WebhookRow>(db(), webhookCollection).updateOne(
      { _id: endpoint._id },
      { $set: { previous_secret: previous } },
    );
    await publish(events(endpoint.app_id, 1));
    await until(() => arrived(endpoint.path).length === 1);
    expect(arrived(endpoint.path)[0]?.headers["webhook-signature"]?.split(" ")).to.have.length(2);
    expect(arrived(endpoint.path)[0]?.verified).to.equal(true);
  });

  it("are retried after a 500 when the first gap is over, with the same event id", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answer(endpoint.path, () => ({ status: arrived(endpoint.path).length === 0 ? 500 : 204, body: "broken" }));
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    const [failed] = await deliveriesOf(endpoint);
    expect(failed).to.include({ attempt: 1 });
    expect(failed?.attempts).to.have.length(1);
    expect(failed?.attempts[0]).to.include({
      response_status: 500,
      response_body_excerpt: "broken",
      error: "answered 500",
      error_class: "server_error",
    });
    await until(async () => (await endpointNow(endpoint))?.failure_count === 1); // saved after the delivery
    shift(61_000);
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "success"); // its share has to be written anew
    const requests = arrived(endpoint.path);
    expect(requests.map(({ headers }) => headers["service-attempt"])).to.deep.equal(["1", "2"]);
    expect(new Set(requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    await until(async () => (await endpointNow(endpoint))?.failure_count === 0);
  });

  it("wait as long as a Retry-After asks for", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answer(endpoint.path, () => ({ status: 429, headers: { "retry-after": "7200" } }));
    const beganMs = Date.now();
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    const dueMs = (await deliveriesOf(endpoint))[0]?.due_at?.getTime() ?? 0;
    expect(dueMs - 7_200_000).to.be.within(beganMs, Date.now());
  });

  it("disable an endpoint that answers 410, and end what waits for it", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answer(endpoint.path, () => ({ status: 410 }));
    await publish(events(endpoint.app_id, 40));
    await until(async () => (await endpointNow(endpoint))?.status === "disabled");
    await until(async () => (await deliveriesOf(endpoint)).length === 40);
    await settled(endpoint);
    expect(await endpointNow(endpoint)).to.include({ disabled_reason: "gone" });
    const deliveries = await deliveriesOf(endpoint);
    expect(deliveries.filter(({ status, due_at }) => status !== "dead" || due_at !== null)).to.deep.equal([]);
    await publish(events(endpoint.app_id, 5, 100));
    await until(async () => (await deliveriesOf(endpoint)).length === 45); // some before the news of it: they end soon
    await until(async () => (await deliveriesOf(endpoint)).every(({ due_at }) => due_at === null));
    expect(arrived(endpoint.path).length).to.be.at.most(10);
  });

  it("arrive once when the batch of events is delivered twice", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    const batch = events(endpoint.app_id, 20);
    const { publish: put } = publisher(nats());
    for (let n = 0; n < 3; n++) await put(names.events(groupOf(endpoint.app_id), "ten_1"), batch);
    await until(() => arrived(endpoint.path).length >= 20);
    await put(names.events(groupOf(endpoint.app_id), "ten_1"), batch);
    await allTaken();
    await settled(endpoint);
    expect(arrived(endpoint.path)).to.have.length(20);
    expect(await deliveriesOf(endpoint)).to.have.length(20);
  });

  it("of one endpoint are sent by one dispatcher at a time, ten at once, each event once", async () => {
    await startDispatcher("a");
    await startDispatcher("b");
    const endpoint = await anEndpoint();
    let [underWay, most] = [0, 0];
    answer(endpoint.path, () => {
      most = Math.max(most, ++underWay);
      setTimeout(() => underWay--, 10);
      return { status: 200, delayMs: 10 };
    });
    for (let n = 0; n < 10; n++) await publish(events(endpoint.app_id, 30, n * 30));
    await until(() => arrived(endpoint.path).length >= 300);
    await settled(endpoint);
    expect(new Set(arrived(endpoint.path).map(({ headers }) => headers["webhook-id"])).size).to.equal(300);
    expect(arrived(endpoint.path)).to.have.length(300);
    expect(most).to.be.within(2, 10);
  });

  it("are never left lying, whichever dispatcher has them first", async () => {
    await startDispatcher("a");
    await startDispatcher("b");
    const endpoint = await anEndpoint();
    for (let n = 0; n < 150; n++) await publish(events(endpoint.app_id, 1, n));
    await until(() => arrived(endpoint.path).length >= 150, 20_000); // what is left to the store and not noticed takes a minute
    await settled(endpoint);
    expect(arrived(endpoint.path)).to.have.length(150);
  });

  it("of an app that is spread arrive once at each of its endpoints, whatever the publisher knew", async () => {
    await startDispatcher("a");
    await startDispatcher("b");
    const app_id = "app_spread";
    const first = partitionOf(app_id);
    const all = await Promise.all([0, 4, 8, 12].map((n) => anEndpoint({ app_id, partition: (first + n) % 16 })));
    await publish(events(app_id, 20), 4);
    await publish(events(app_id, 20, 20), 1);
    for (const endpoint of all) {
      await until(() => arrived(endpoint.path).length >= 40);
      await settled(endpoint);
    }
    expect(all.map(({ path }) => arrived(path).length)).to.deep.equal([40, 40, 40, 40]);
  });

  it("arrive once also when a program of the last release published them", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    const { publish: put } = publisher(nats());
    await put(`${prefix}.events.ten_1`, events(endpoint.app_id, 20));
    await publish(events(endpoint.app_id, 20, 20));
    await settled(endpoint);
    await until(() => arrived(endpoint.path).length >= 40);
    expect(new Set(arrived(endpoint.path).map(({ headers }) => headers["webhook-id"]))).to.have.property("size", 40);
    expect(arrived(endpoint.path)).to.have.length(40);
  });

  it("are left to dispatchers of the last release while those serve, and arrive once when these have left", async () => {
    await startDispatcher("a");
    const { former } = webhookOwners(db(), testPartitioning);
    const writeFormer = async (members: Member[]): Promise<void> => {
      const before = await former.read(new Date());
      const others = before.members.filter(({ holder }) => holder !== "old");
      if (!(await former.replace(before, { ...before, members: [...others, ...members] }))) await writeFormer(members);
    };
    const leaving = new AbortController();
    const beat = async (): Promise<void> => {
      for (let n = 1; !leaving.signal.aborted; n++) {
        await writeFormer([{ holder: "old", beat: n, isLeaving: false }]);
        await sleep(500, undefined, { signal: leaving.signal }).catch(() => undefined); // it leaves
      }
      await writeFormer([]);
    };
    const served = beat();
    const endpoint = await anEndpoint();
    const expectHeldBack = async (): Promise<void> => {
      await until(async () => !(await webhookOwners(db(), testPartitioning).partitions.read(new Date())).serves);
      await publish(events(endpoint.app_id, 10));
      await publisher(nats()).publish(`${prefix}.events.ten_1`, events(endpoint.app_id, 10, 10));
      await until(async () => (await deliveriesOf(endpoint)).length === 20);
      expect(arrived(endpoint.path)).to.deep.equal([]);
    };
    await expectHeldBack().finally(() => leaving.abort());
    await served;
    await until(() => arrived(endpoint.path).length >= 20);
    await settled(endpoint);
    expect(arrived(endpoint.path)).to.have.length(20);
  });

  it("to an endpoint that hangs do not delay those to another", async () => {
    await startDispatcher("a");
    const [hanging, healthy] = [await anEndpoint(), await anEndpoint()];
    answer(hanging.path, () => ({ status: 200, delayMs: 60_000 }));
    await publish(events(hanging.app_id, 100));
    await until(() => arrived(hanging.path).length >= 4);
    await publish(events(healthy.app_id, 20));
    await until(() => arrived(healthy.path).length === 20, hanging.timeout_ms / 2);
    expect(arrived(hanging.path), "it is tried with few at once").to.have.length(4);
  });

  it("whose signing secret cannot be opened fail, and say so", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint({ secret: { kid: "lost", data: "AAAA" } });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    expect((await deliveriesOf(endpoint))[0]?.attempts[0]).to.include({
      error: "a secret cannot be opened",
      error_class: "configuration",
      response_status: null,
    });
  });

  it("to a private address fail without a request", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint({ url: "https://10.0.0.1/hook" });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    expect((await deliveriesOf(endpoint))[0]?.attempts[0]).to.include({
      error: "private and local addresses are not allowed",
      error_class: "address_refused",
    });
  });
});
