import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream } from "#core/queue/jetstream/topology.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope, EventKind } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type RemovalRow, removalCollection } from "#core/storage/work/removals.ts";
import { useSite } from "../../../support/api/site.ts";
import { testPartitioning } from "../../../support/rows/partitioning.ts";
import { type ReadEvents, readEvents } from "../../../support/system/events.ts";
import { until } from "../../../support/until.ts";

describe("the events of users and subscriptions", () => {
  const { site, tenant } = useSite();
  let events: ReadEvents;

  before(async () => {
    const nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    await ensureStream(nats.jsm, eventStream(site.name, timings.short, testPartitioning));
    await nats.close();
    events = await readEvents(site.servers.natsUrl, site.name);
  });
  after(async () => {
    await events.close();
    const nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    await nats.jsm.streams.delete(eventStream(site.name, timings.short, testPartitioning).stream.name);
    await nats.close();
  });

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const upsertWith = (externalId: string, subscription: object) =>
    call("POST", "/users", { external_id: externalId, subscriptions: [subscription] });
  const registerOf = async (externalId: string, subscription: object) => {
    await call("POST", "/users", { external_id: externalId });
    return call("POST", `/users/by/external_id/${externalId}/subscriptions`, subscription);
  };
  const token = () => crypto.randomUUID().replaceAll("-", "").repeat(2);
  const rows = {
    users: () => site.db.collection<UserRow>(userCollection.name),
    subscriptions: () => site.db.collection<SubscriptionRow>(subscriptionCollection.name),
    removals: () => site.db.collection<RemovalRow>(removalCollection.name),
  };
  const reported = (kind: EventKind, id: string): EventEnvelope[] =>
    events.about(id).filter(({ type, subject_id }) => type === kind && subject_id === id);

  /** Waits for the event, and says that it fits its schema and came once. */
  const only = async (kind: EventKind, id: string): Promise<EventEnvelope> => {
    await until(() => reported(kind, id).length > 0);
    const [event, ...more] = reported(kind, id);
    if (event === undefined) throw new Error("it was there");
    expect(more).to.deep.equal([]);
    parser(eventTypes[kind].data)(event.data);
    return event;
  };

  it("report a new user and each of their subscriptions, and leave nothing to do", async () => {
    const { body } = await call("POST", "/users", {
      external_id: "ada",
      tags: { plan: "pro" },
      subscriptions: [{ channel: "ios_push", token: token() }],
    });
    const created = await only("user.created", body.id);
    expect(created.data).to.deep.include({ user_id: body.id, external_id: "ada", tags: { plan: "pro" }, changed: [] });
    const subscriptionId = String(body.subscriptions[0]?.["id"]);
    const registered = await only("subscription.created", subscriptionId);
    expect(registered.data).to.include({ subscription_id: subscriptionId, user_id: body.id, reason: null });
    const isClear = { outbox: { $size: 0 }, due_at: null };
    await until(async () => (await rows.users().countDocuments({ _id: body.id, ...isClear })) === 1);
    await until(async () => (await rows.subscriptions().countDocuments({ _id: subscriptionId, ...isClear })) === 1);
  });

  it("never show a token", async () => {
    const address = token();
    const { body } = await call("POST", "/users", {
      external_id: "masked",
      subscriptions: [{ channel: "ios_push", token: address }],
    });
    const event = await only("subscription.created", String(body.subscriptions[0]?.["id"]));
    expect(JSON.stringify(event)).not.to.include(address);
    expect(event.data["token_masked"]).to.equal(`•••${address.slice(-8)}`);
  });

  it("wait five seconds for further changes of a user, and none come of a body that changes nothing", async () => {
    const body = { external_id: "cora", tags: { plan: "pro" } };
    const { id } = (await call("POST", "/users", body)).body;
    await only("user.created", id);
    await until(async () => (await rows.users().countDocuments({ _id: id, due_at: null })) === 1);
    await call("POST", "/users", body);
    expect(await rows.users().findOne({ _id: id })).to.deep.include({ changed: [], revision: 0, due_at: null });
    const before = Date.now();
    await call("PATCH", `/users/by/user_id/${id}`, { tags: { plan: "free" } });
    await call("PATCH", `/users/by/user_id/${id}`, { language: "it", tags: { city: "Rome" } });
    const after = Date.now();
    const row = await rows.users().findOne({ _id: id });
    expect(row?.changed).to.have.members(["tags.plan", "tags.city", "language"]);
    expect(row?.revision).to.equal(2);
    expect(row?.due_at?.getTime()).to.be.within(before + 5_000, after + 5_000);
  });

  it("tell once that a subscription was ended, by whichever call", async () => {
    const made = await call("POST", "/users", { external_id: "dora" });
    const path = `/users/by/user_id/${made.body.id}/subscriptions`;
    const [first, second] = [token(), token()];
    const { id } = (await call("POST", path, { channel: "ios_push", token: first })).body;
    await call("PATCH", `/subscriptions/${id}`, { status: "unsubscribed" });
    await call("PATCH", `/subscriptions/${id}`, { status: "unsubscribed", language: "it" });
    await call("POST", path, { channel: "ios_push", token: first, status: "unsubscribed" });
    expect((await only("subscription.unsubscribed", id)).data).to.include({ status: "unsubscribed", reason: "api" });

    const other = (await call("POST", path, { channel: "ios_push", token: second })).body.id;
    await call("POST", path, { channel: "ios_push", token: second, status: "unsubscribed" });
    expect((await only("subscription.unsubscribed", other)).data).to.include({ status_reason: "api" });
  });

  it("tell of both ends of a subscription that was renewed in between", async () => {
    const made = await call("POST", "/users", {
      external_id: "emma",
      subscriptions: [{ channel: "email", token: "emma@example.com" }],
    });
    const id = String(made.body.subscriptions[0]?.["id"]);
    for (const status of ["unsubscribed", "subscribed", "unsubscribed"]) {
      expect((await call("PATCH", `/subscriptions/${id}`, { status })).status).to.equal(200);
    }
    await until(async () => (await rows.subscriptions().countDocuments({ _id: id, due_at: null })) === 1);
    await until(() => reported("subscription.unsubscribed", id).length >= 2);
    expect(reported("subscription.unsubscribed", id)).to.have.length(2);
  });

  for (const { it: how, again } of [
    { it: "an upsert of its user", again: (own: object) => upsertWith("quiet", own) },
    { it: "a registration", again: (own: object) => registerOf("quiet", own) },
    { it: "an upsert of another user", again: (own: object) => upsertWith("loud", own) },
    { it: "a registration by another user", again: (own: object) => registerOf("loud", own) },
  ]) {
    it(`tell nothing of ${how} without a status: whoever unsubscribed stays so, also when the address was invalid`, async () => {
      const own = { channel: "ios_push", token: token() };
      const id = String((await upsertWith("quiet", own)).body.subscriptions.at(-1)?.["id"]);
      const { body: ended } = await call("PATCH", `/subscriptions/${id}`, { status: "unsubscribed" });
      await only("subscription.unsubscribed", id);
      for (const over of [{}, { status: "invalid", status_reason: "token_invalid" }] as const) {
        await rows.subscriptions().updateOne({ _id: id }, { $set: over });
        expect((await again(own)).status).to.be.oneOf([200, 201]);
        const { unsubscribed_at } = ended;
        const kept = { status: "unsubscribed", status_reason: "api", unsubscribed_at };
        expect((await call("GET", `/subscriptions/${id}`)).body).to.include(kept);
      }
      await until(async () => (await rows.subscriptions().countDocuments({ _id: id, due_at: null })) === 1);
      await only("subscription.unsubscribed", id);
      await again({ ...own, status: "subscribed" });
      expect((await call("GET", `/subscriptions/${id}`)).body).to.include({
        status: "subscribed",
        unsubscribed_at: null,
      });
    });
  }

  it("tell once that a subscription was ended by many at the same moment", async () => {
    const made = await call("POST", "/users", {
      external_id: "finn",
      subscriptions: [{ channel: "ios_push", token: token() }],
    });
    const id = String(made.body.subscriptions[0]?.["id"]);
    const calls = Array.from({ length: 8 }, () => call("PATCH", `/subscriptions/${id}`, { status: "unsubscribed" }));
    for (const { status } of await Promise.all(calls)) expect(status).to.equal(200);
    await until(async () => (await rows.subscriptions().countDocuments({ _id: id, due_at: null })) === 1);
    await only("subscription.unsubscribed", id);
  });

  it("report by the ids alone that a user was deleted, and leave the traces to the dispatchers", async () => {
    const { id } = (
      await call("POST", "/users", {
        external_id: "gina",
        aliases: { crm: "g-1" },
        tags: { secret: "x" },
        subscriptions: [{ channel: "email", token: "gina@example.com" }],
      })
    ).body;
    await call("DELETE", "/users/by/external_id/gina");
    const event = await only("user.deleted", id);
    expect(event.data).to.deep.include({ user_id: id, external_id: "gina" });
    expect(JSON.stringify(event)).not.to.match(/secret|g-1|gina@/);
    const removal = await rows.removals().findOne({ _id: id });
    expect(removal?.keys).to.include.members([id, "external_id:gina", "crm:g-1", "email:gina@example.com"]);
    expect(await rows.users().countDocuments({ _id: id })).to.equal(0);
    expect(await rows.subscriptions().countDocuments({ user_id: id })).to.equal(0);
  });

  it("tell nothing of a deletion when an external id is only taken away", async () => {
    const { id } = (await call("POST", "/users", { external_id: "hugo" })).body;
    await call("PATCH", `/users/by/user_id/${id}`, { external_id: null });
    await call("PATCH", `/users/by/user_id/${id}`, { external_id: "hugo-2" });
    expect(await rows.removals().countDocuments({ _id: id })).to.equal(0);
    expect((await rows.users().findOne({ _id: id }))?.changed).to.deep.equal(["external_id"]);
  });

  it("outlive the user and the subscription that they are about", async () => {
    const { body } = await call("POST", "/users", {
      external_id: "ines",
      subscriptions: [{ channel: "ios_push", token: token() }],
    });
    const id = String(body.subscriptions[0]?.["id"]);
    await only("subscription.created", id);
    await until(async () => (await rows.subscriptions().countDocuments({ _id: id, due_at: null })) === 1);
    const left = { ...reported("subscription.created", id)[0], id: "evt_left" } as EventEnvelope; // as JetStream's absence would
    await rows.subscriptions().updateOne({ _id: id }, { $set: { outbox: [left], due_at: new Date() } });
    await call("DELETE", `/subscriptions/${id}`);
    await until(() => reported("subscription.created", id).some((event) => event.id === "evt_left"));
    expect(await rows.removals().countDocuments({ _id: id, kind: "subscription" })).to.equal(1);
  });
});
