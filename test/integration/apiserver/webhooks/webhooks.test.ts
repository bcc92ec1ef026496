import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { spreadFrom } from "#core/storage/webhooks/places.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, removalCollection } from "#core/storage/work/removals.ts";
import { type ReplyBody } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { placeOf } from "../../../support/rows/partitioning.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { until } from "../../../support/until.ts";

describe("webhooks", () => {
  const { site, tenant } = useSite({ HERALD_ALLOWED_RANGES: "127.0.0.0/8" });
  let nats: Nats;
  let base: string;
  const heard: string[] = [];

  before(async () => {
    base = `/v1/apps/${tenant.app._id}/webhooks`;
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    nats.nc.subscribe(`${site.name}.config.webhooks.*`, {
      callback: (_, message) => {
        const { id, app_id } = message.json<{ id: string; app_id: string }>();
        heard.push(`${id} of ${app_id}`);
      },
    });
    nats.nc.subscribe(`${site.name}.webhooks.*`, { callback: (_, { subject }) => void heard.push(subject) });
    await nats.nc.flush();
  });
  after(async () => {
    await nats.close();
  });

  const call = (method: string, path = "", body?: object) =>
    site.api.call(method, base + path, { token: tenant.token, ...(body !== undefined && { body }) });
  const wanted = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
  const made = async (over: object = {}): Promise<ReplyBody> => {
    const { status, body } = await call("POST", "", { ...wanted, ...over });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const rows = () => site.db.collection<WebhookRow>("webhooks");
  const row = async (id: string): Promise<WebhookRow> => (await rows().findOne({ _id: id })) as WebhookRow;
  const announced = (id: string) => until(async () => heard.includes(`${id} of ${tenant.app._id}`));
  const opened = (id: string, { secret }: Pick<WebhookRow, "secret">) =>
    keyRing(testKeyRing).open(secret, `webhooks/${id}/secret`);

  it("makes an endpoint with every default, and tells its secret once", async () => {
    const { id, secret, created_at, ...rest } = await made();
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).to.deep.equal({
      app_id: tenant.app._id,
      url: wanted.url,
      description: null,
      events: ["delivery.sent"],
      event_filters: {},
      batch: false,
      status: "active",
      paused: false,
      disabled_reason: null,
      failure_count: 0,
      failing_since: null,
      last_success_at: null,
      last_failure_at: null,
      header_names: [],
      previous_secret_expires_at: null,
      body_template: null,
      body_content_type: "application/json",
      filters: null,
      rate_per_second: null,
      max_in_flight: 10,
      timeout_ms: 10_000,
      recovery: null,
      updated_at: created_at,
    });
    expect(opened(id, await row(id))).to.equal(secret);
    await announced(id);
    const shown = await call("GET", `/${id}`);
    expect([shown.status, shown.body]).to.deep.equal([200, { id, created_at, ...rest }]);
  });

  it("keeps every member that it is given, and header values sealed", async () => {
    const settings = {
      description: "to the CRM",
      events: ["event.received", "user.created"],
      event_filters: { event_names: ["purchase"] },
      batch: true,
      paused: true,
      body_template: '{"id": "{{ id }}"}',
      body_content_type: "text/plain",
      filters: { match: "any", conditions: [{ field: "data.value", op: "gt", value: 5 }] },
      rate_per_second: 50,
      max_in_flight: 20,
      timeout_ms: 30_000,
    };
    const { id, ...shown } = await made({
      ...settings,
      headers: { "X-Tenant": "t-1", Authorization: "Bearer s3cret" },
    });
    expect(shown).to.deep.include({ ...settings, header_names: ["X-Tenant", "Authorization"] });
    const stored = await row(id);
    expect(JSON.stringify(stored)).to.not.include("s3cret");
    const open = stored.headers.map(({ name, value }) =>
      keyRing(testKeyRing).open(value, `webhooks/${id}/headers/${name}`),
    );
    expect(open).to.deep.equal(["t-1", "Bearer s3cret"]);
  });

  it("lists the endpoints of the app in the order of creation, without secrets", async () => {
    const all = await call("GET");
    const ids = all.body.data.map((one) => one.id);
    const stored = await rows().find({ app_id: tenant.app._id }).sort({ created_at: 1, _id: 1 }).toArray();
    expect(ids).to.deep.equal(stored.map(({ _id }) => _id));
    expect(all.text).to.not.include("whsec_").and.not.include('"data":"');
  });

  it("changes only what is given", async () => {
    const { id, secret: _, ...before } = await made({ description: "a", headers: { "X-A": "1" } });
    const { status, body } = await call("PATCH", `/${id}`, { description: null, max_in_flight: 3 });
    expect([status, body]).to.deep.equal([
      200,
      { ...before, id, description: null, max_in_flight: 3, updated_at: body["updated_at"] },
    ]);
    expect(String(body["updated_at"]) > String(before["updated_at"])).to.equal(true);
    await announced(id);
  });

  it("is left as it is by a change of nothing", async () => {
    const { id } = await made();
    const before = await row(id);
    const { status, body } = await call("PATCH", `/${id}`, {});
    expect([status, body]).to.deep.equal([200, (await call("GET", `/${id}`)).body]);
    expect(await row(id)).to.deep.equal(before);
  });

  it("replaces all headers by a map, and removes them by null", async () => {
    const { id } = await made({ headers: { "X-A": "1", "X-B": "2" } });
    expect((await call("PATCH", `/${id}`, { headers: { "X-C": "3" } })).body["header_names"]).to.deep.equal(["X-C"]);
    expect((await call("PATCH", `/${id}`, { headers: null })).body["header_names"]).to.deep.equal([]);
  });

  it("judges a change with what stays", async () => {
    const { id } = await made({ events: ["event.received"], event_filters: { event_names: ["a"] } });
    const bots = { event_names: ["hs.conversation.message_received"], audience: "bot" };
    expect((await call("PATCH", `/${id}`, { event_filters: bots })).body["event_filters"]).to.deep.equal(bots);
    const neither = { event_names: ["a"], audience: null };
    const shown = await call("PATCH", `/${id}`, { event_filters: neither });
    expect(shown.body["event_filters"]).to.deep.equal({ event_names: ["a"] });
    const refused = await call("PATCH", `/${id}`, { event_filters: {} });
    expect([refused.status, refused.body.error.details["field"]]).to.deep.equal([400, "event_filters.event_names"]);
    const other = await call("PATCH", `/${id}`, { event_filters: {}, events: ["user.created"] });
    expect([other.status, other.body["event_filters"]]).to.deep.equal([200, {}]);
    expect((await call("PATCH", `/${id}`, { events: ["event.received"] })).status).to.equal(400);
  });

  it("is disabled by its owner, and begins anew when it is enabled", async () => {
    const { id } = await made();
    const bad = { failure_count: 12, status: "failing" as const, failing_since: new Date(), notified: "week" as const };
    await rows().updateOne({ _id: id }, { $set: { ...bad, streak_since: new Date() } });
    const off = await call("PATCH", `/${id}`, { status: "disabled" });
    expect([off.body.status, off.body["disabled_reason"]]).to.deep.equal(["disabled", "disabled by its owner"]);
    await announced(id);
    const on = await call("PATCH", `/${id}`, { status: "active" });
    expect(on.body).to.deep.include({ status: "active", disabled_reason: null, failure_count: 0, failing_since: null });
    expect(await row(id)).to.deep.include({ streak_since: null, notified: null });
  });

  it("keeps the reason of an endpoint that was disabled before its owner did", async () => {
    const { id } = await made();
    await rows().updateOne({ _id: id }, { $set: { status: "disabled", disabled_reason: "gone" } });
    const { body } = await call("PATCH", `/${id}`, { status: "disabled" });
    expect(body["disabled_reason"]).to.equal("gone");
  });

  it("announces an endpoint that goes on after a pause, so that its owner sends what waited", async () => {
    const { id } = await made({ paused: true });
    await announced(id);
    heard.length = 0;
    expect((await call("PATCH", `/${id}`, { paused: false })).body["paused"]).to.equal(false);
    await announced(id);
  });

  it("loses no change of several at once", async () => {
    const { id } = await made();
    const changes = [{ description: "x" }, { max_in_flight: 2 }, { timeout_ms: 5_000 }, { batch: true }];
    await Promise.all(changes.map((change) => call("PATCH", `/${id}`, change)));
    expect((await call("GET", `/${id}`)).body).to.deep.include(Object.assign({}, ...changes) as object);
  });

  it("gives a new secret beside the former one, and drops the oldest of three", async () => {
    const { id, secret: first } = await made();
    const second = await call("POST", `/${id}/rotate-secret`);
    const expiresAt = Date.parse(String(second.body["previous_secret_expires_at"]));
    expect(expiresAt - Date.now()).to.be.within(86_400_000 - 10_000, 86_400_000);
    const { previous_secret: previous, ...rotated } = await row(id);
    expect([opened(id, rotated), previous && opened(id, previous)]).to.deep.equal([second.body["secret"], first]);
    const third = await call("POST", `/${id}/rotate-secret`);
    const { previous_secret: newer, ...again } = await row(id);
    expect([opened(id, again), newer && opened(id, newer)]).to.deep.equal([
      third.body["secret"],
      second.body["secret"],
    ]);
    expect(new Set([first, second.body["secret"], third.body["secret"]]).size).to.equal(3);
  });

  it("does not tell of a former secret that has expired", async () => {
    const { id } = await made();
    const { secret } = await row(id);
    await rows().updateOne({ _id: id }, { $set: { previous_secret: { secret, expires_at: new Date(0) } } });
    expect((await call("GET", `/${id}`)).body["previous_secret_expires_at"]).to.equal(null);
  });

  it("removes an endpoint, and has a dispatcher drop what waits for it", async () => {
    const { id } = await made();
    await announced(id);
    heard.length = 0;
    expect((await call("DELETE", `/${id}`)).body).to.deep.equal({ ok: true });
    await announced(id);
    expect(await collectionOf<RemovalRow>(site.db, removalCollection).findOne({ _id: id })).to.include({
      kind: "webhook",
      app_id: tenant.app._id,
    });
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["PATCH", ""],
      ["POST", "/test"],
    ] as const) {
      expect((await call(method, `/${id}${path}`, method === "PATCH" ? {} : undefined)).status).to.equal(404);
    }
  });

  it("takes an address of an allowed range, over plain http too", async () => {
    expect((await made({ url: "http://127.0.0.1:8080/in" })).status).to.equal("active");
  });

  it("shows how its requests went", async () => {
    const { id } = await made();
    const { status, body } = await call("GET", `/${id}/health`);
    const nothing = { requests: 0, success_rate: null, p50_ms: null, p99_ms: null, last_error_class: null };
    expect([status, body]).to.deep.equal([
      200,
      { status: "active", failure_count: 0, last_hour: nothing, last_day: nothing },
    ]);
  });

  it("tells of each change as an event, without secrets and header values", async () => {
    const heardOf: Record<string, unknown>[] = []; // also late ones of other endpoints
    const callback = (_: Error | null, message: { json: () => unknown }) =>
      void heardOf.push(...(message.json() as Record<string, unknown>[]));
    const subscription = nats.nc.subscribe(`${site.name}.app-events.*.*.*`, { callback });
    await nats.nc.flush();
    const { id, secret } = await made({ headers: { "X-Key": "s3cret" } });
    const ours = () => heardOf.filter((event) => event["subject_id"] === id);
    await call("PATCH", `/${id}`, {});
    await call("PATCH", `/${id}`, { paused: true, headers: { "X-Key": "an0ther" } });
    const { body: rotated } = await call("POST", `/${id}/rotate-secret`);
    await call("DELETE", `/${id}`);
    await until(() => ours().length >= 4);
    subscription.unsubscribe();
    const audited = ours();
    const data = audited.map((event) => event["data"] as Record<string, unknown>);
    const actions = ["created", "updated", "secret_rotated", "deleted"].map((verb) => `webhook.${verb}`);
    expect(
      data.map(({ action }) => action),
      "nothing of a change of nothing",
    ).to.have.members(actions);
    const updated = data.find(({ action }) => action === "webhook.updated");
    expect(updated).to.deep.include({
      actor: { type: "api_key", id: tenant.key._id },
      target: { type: "webhook", id },
      changes: { paused: { before: false, after: true } },
    });
    for (const text of [secret, rotated["secret"], "s3cret", "an0ther"]) {
      expect(JSON.stringify(audited)).to.not.include(text);
    }
  });

  it("is placed in one of its app's four partitions once there are fifty", async () => {
    const { app, tenant: owner } = tenant;
    const others = Array.from({ length: spreadFrom }, (_, n) =>
      aWebhook({ _id: `whk_many_${n}`, tenant_id: owner._id, app_id: app._id }),
    );
    const before = await made();
    await rows().insertMany(others);
    const { id } = await made();
    await rows().deleteMany({ _id: { $in: others.map(({ _id }) => _id) } });
    expect([(await row(before["id"])).partition, (await row(id)).partition]).to.deep.equal([
      undefined,
      placeOf({ _id: id, app_id: app._id }, 4),
    ]);
  });
});
