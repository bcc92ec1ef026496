import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { callbackBatch } from "#core/queue/callbacks.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { callbackStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aTenant, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("devices by themselves", () => {
  const { site, tenant } = useSharedSite();
  let nats: Nats;
  const callbacks = () => callbackStream(site.name, timings.short);
  before(async () => {
    nats = await connectNats({ url: site.servers.natsUrl, name: site.name });
    await ensureStream(nats.jsm, callbacks());
  });
  after(async () => {
    await nats?.jsm.streams.delete(callbacks().stream.name);
    await nats?.close();
  });
  const path = "/sdk/v1/subscriptions";
  const aToken = () => randomBytes(32).toString("hex");
  const rows = () => site.db.collection<SubscriptionRow>("subscriptions");
  const call = (method: string, at: string, { secret = "", app = tenant.app._id, ...more }: Asked = {}) =>
    site.api.call(method, at, {
      headers: { "X-HS-App-Id": app, ...(secret && { "X-HS-Subscription-Token": secret }), ...more.headers },
      ...(more.body !== undefined && { body: more.body }),
    });
  type Asked = { secret?: string; app?: string; body?: unknown; headers?: Record<string, string> };
  type Registered = { subscription_id: string; user_id: string; subscription_token: string | null; status: string };
  const anInstall = (over: object = {}) => ({
    install_id: randomUUID(),
    channel: "ios_push",
    token: aToken(),
    device: { model: "iPhone17,1", timezone: "Europe/Berlin" },
    ...over,
  });
  /** Registrations from one address are limited: whoever is told to wait does so. */
  const register = async (body: object, app = tenant.app._id) => {
    for (;;) {
      const reply = await call("POST", path, { body, app });
      if (reply.status !== 429 || reply.body.error.details.metric !== undefined) return reply;
      await sleep(1_000 * Number(reply.headers.get("Retry-After")));
    }
  };
  const registered = async (over: object = {}) => {
    const body = anInstall(over);
    const { status, body: shown } = await register(body);
    const reply = shown as unknown as Registered; // the schema of the reply was checked
    expect(status).to.equal(201);
    return { ...body, id: reply.subscription_id, secret: reply.subscription_token ?? "", reply };
  };

  it("register, see, change and delete their own subscription", async () => {
    const { id, secret, reply } = await registered();
    expect(secret).to.match(/^sst_[A-Za-z0-9_-]{43}$/);
    expect(reply["status"]).to.equal("subscribed");
    const stored = await rows().findOne({ _id: id });
    expect(stored?.install?.secret_hash).to.match(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(stored)).not.to.contain(secret);
    expect((await site.db.collection("users").findOne({ _id: stored?.user_id } as object))?.["external_id"]).to.equal(
      null,
    );
    const shown = await call("GET", `${path}/${id}`, { secret });
    expect(shown.body).to.deep.include({
      subscription_id: id,
      channel: "ios_push",
      has_token: true,
      status_detail: null,
    });
    const changed = await call("PATCH", `${path}/${id}`, { secret, body: { enabled: false, language: "de" } });
    expect(changed.body).to.deep.include({ status: "unsubscribed", status_reason: "opt_out", language: "de" });
    const back = await call("PATCH", `${path}/${id}`, { secret, body: { enabled: true, token: aToken() } });
    expect(back.body).to.deep.include({ status: "subscribed", status_reason: null });
    expect((await call("DELETE", `${path}/${id}`, { secret })).body).to.deep.equal({ ok: true });
    expect((await call("GET", `${path}/${id}`, { secret })).status).to.equal(401);
  });

  it("of the same installation and token get another secret, and the one before ends", async () => {
    const { id, secret, install_id, channel, token } = await registered();
    const again = await register({ install_id: install_id.toUpperCase(), channel, token });
    expect([again.status, again.body["subscription_id"]]).to.deep.equal([200, id]);
    expect((await call("GET", `${path}/${id}`, { secret })).status).to.equal(401);
    const { subscription_token: other = "" } = again.body as unknown as { subscription_token?: string };
    expect((await call("GET", `${path}/${id}`, { secret: other })).status).to.equal(200);
  });

  it("take over a token that another installation, or the app's server, registered", async () => {
    const one = await registered();
    const other = await registered({ token: one.token });
    const server = aSubscription({ tenant_id: tenant.tenant._id, app_id: tenant.app._id, token: aToken() });
    await seed(site.db, { subscriptions: [server] });
    await call("PATCH", `${path}/${other.id}`, { secret: other.secret, body: { token: server.token } });
    const held = await rows().findOne({ _id: other.id });
    expect(held).to.include({ token: server.token, status: "subscribed" });
    for (const { _id } of [{ _id: one.id }, server]) {
      const lost = await rows().findOne({ _id });
      expect(lost).to.include({ status: "invalid", status_reason: "token_reassigned" });
    }
    expect((await call("GET", `${path}/${one.id}`, { secret: one.secret })).body).to.include({ has_token: false });
  });

  it("are not reached without a token or permission, until they have both", async () => {
    const { id, secret, reply } = await registered({ token: null, status_detail: 1 });
    expect(reply["status"]).to.equal("unsubscribed");
    const change = (body: object) => call("PATCH", `${path}/${id}`, { secret, body });
    for (const permitted of [{ status_detail: 1 }, { enabled: true }])
      expect((await change(permitted)).body).to.include({ status: "unsubscribed", has_token: false });
    expect((await change({ token: aToken(), status_detail: 0 })).body).to.include({ status_reason: "no_permission" });
    expect((await change({ status_detail: 1 })).body).to.include({ status: "subscribed", has_token: true });
    expect((await change({ status_detail: -2 })).body).to.include({ status: "unsubscribed", status_reason: "opt_out" });
    for (const status_detail of [0, 1])
      expect((await change({ status_detail })).body).to.include({ status_reason: "opt_out" }); // the person's own
    expect((await change({ token: null })).body).to.include({ has_token: false });
  });

  it("may be many of one token at the same moment: one has it", async () => {
    const token = aToken();
    const installs = Array.from({ length: 4 }, () => anInstall({ token }));
    const replies = await Promise.all(installs.map((one) => register(one)));
    for (const { status } of replies) expect(status).to.be.oneOf([201, 409]);
    const holders = await rows().find({ app_id: tenant.app._id, token }).toArray();
    expect(holders.map(({ status }) => status)).to.deep.equal(["subscribed"]);
  });

  it("find nobody else's subscription, and prove who they are", async () => {
    const [one, other] = [await registered(), await registered()];
    const elsewhere = await seedTenant(site.db);
    const at = `${path}/${one.id}`;
    const refused = async (asked: Asked, where = at) => {
      const { status, body } = await call("GET", where, asked);
      return [status, body.error.code, body.error.details.reason];
    };
    expect(await refused({ secret: other.secret })).to.deep.equal([404, "HS_NOT_FOUND", undefined]);
    expect(await refused({})).to.deep.equal([401, "HS_UNAUTHENTICATED", "missing"]);
    expect(await refused({ secret: "sst_unknown" })).to.deep.equal([401, "HS_UNAUTHENTICATED", "invalid"]);
    expect(await refused({ secret: one.secret, app: elsewhere.app._id })).to.deep.equal([
      401,
      "HS_UNAUTHENTICATED",
      "invalid",
    ]);
    expect(await refused({ app: "app_unknown" }, "/sdk/v1/config")).to.deep.equal([404, "HS_NOT_FOUND", undefined]);
    expect(await refused({ app: "" }, "/sdk/v1/config")).to.deep.equal([401, "HS_UNAUTHENTICATED", "missing"]);
    const withKey = { secret: one.secret, headers: { Authorization: `Bearer ${tenant.token}` } };
    expect(await refused(withKey)).to.deep.equal([401, "HS_UNAUTHENTICATED", "invalid"]);
  });

  it("are refused what no provider takes, more than the plan has, and for a suspended organisation", async () => {
    const bad = await register(anInstall({ token: "not hexadecimal" }));
    expect([bad.status, bad.body.error.details.field]).to.deep.equal([400, "token"]);
    const zone = await register(anInstall({ device: { timezone: "Nowhere/Land" } }));
    expect(zone.body.error.details.field).to.equal("device.timezone");
    const ofBytes = (bytes: number) => {
      const body = { ...anInstall(), device: { model: "" } };
      return { ...body, device: { model: "x".repeat(bytes - JSON.stringify(body).length) } };
    };
    const largest = await register(ofBytes(256 * 1024));
    expect([largest.status, largest.body.error.details.field]).to.deep.equal([400, "device.model"]);
    const large = await register(ofBytes(256 * 1024 + 1));
    expect([large.status, large.body.error.code]).to.deep.equal([413, "HS_PAYLOAD_TOO_LARGE"]);
    const full = await seedTenant(site.db, { plan: { _id: "devices_none", subscribers: 0 } });
    const over = await register(anInstall(), full.app._id);
    expect([over.status, over.body.error.details.metric]).to.deep.equal([429, "subscribers"]);
    const suspended = await seedTenant(site.db, { tenant: aTenant({ suspended: true }) });
    const told = await call("GET", "/sdk/v1/config", { app: suspended.app._id });
    expect([told.status, told.body.error.code]).to.deep.equal([403, "HS_ORGANIZATION_SUSPENDED"]);
  });

  it("are limited one by one, and their registrations by address", async () => {
    const { id, secret } = await registered();
    const replies = await Promise.all(Array.from({ length: 20 }, () => call("GET", `${path}/${id}`, { secret })));
    expect(replies.filter(({ status }) => status === 429).length).to.be.within(5, 10);
    const many = await Promise.all(Array.from({ length: 30 }, () => call("POST", path, { body: anInstall() })));
    const limited = many.find(({ status }) => status === 429);
    expect(limited?.headers.get("RateLimit-Policy")).to.match(/^"sdk\.auth"/);
  });

  /** A message that is stored, and its delivery to a device. */
  const delivered = async (subscription: string) => {
    const message = { _id: `msg_${randomUUID()}`, tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    await site.db.collection<{ _id: string }>("messages").insertOne(message);
    return { message_id: message._id, delivery_id: deliveryIdOf(message._id, subscription) };
  };

  /** What the queue has, as long as nobody reads it. */
  const queued = async () => {
    const subject = subjects(site.name).callbacks(tenant.tenant._id);
    const stored = await nats.jsm.streams.getMessage(callbacks().stream.name, { last_by_subj: subject });
    return callbackBatch(stored?.json()).callbacks.flatMap(
      ({ callback }) => JSON.parse(callback.body.toString()) as Record<string, unknown>[],
    );
  };
  const eventsOf = async (user: unknown): Promise<EventEnvelope[]> => {
    const batches = site.db.collection<EventBatchRow>("event_batches").find({ events: { $exists: true } });
    const all = (await batches.toArray()).flatMap(({ events }) => events.map(({ text }) => JSON.parse(text)));
    return (all as EventEnvelope[]).filter(({ subject_id: subject }) => subject === user);
  };

  it("report of their own messages only, and each receipt once", async () => {
    const { id, secret } = await registered();
    const { message_id, delivery_id } = await delivered(id);
    const foreign = await delivered("sub_other");
    const now = new Date().toISOString();
    const of = { message_id, occurred_at: now };
    const receipts = [
      { type: "received", delivery_id, ...of },
      { type: "received", ...of },
      { type: "clicked", button_id: "buy", url: null, subscription_id: id, ...of, occurred_at: "2999-01-01T00:00:00Z" },
      { type: "opened", ...of, occurred_at: "2020-01-01T00:00:00Z" },
      { type: "opened", ...of, message_id: "msg_unknown" },
      { type: "opened", ...of, ...foreign },
    ];
    const reply = await call("POST", "/sdk/v1/receipts", { secret, body: { receipts } });
    expect([reply.status, reply.body["accepted"], reply.body["duplicates"]]).to.deep.equal([202, 4, 1]);
    expect(reply.body["errors"]).to.deep.equal([
      { index: 3, code: "OCCURRED_AT_TOO_OLD", message: "occurred_at is more than 30 days ago" },
    ]);
    const [received, clicked, ...more] = await queued();
    expect(received).to.deep.include({ deliveryId: delivery_id, kind: "delivered", at: now });
    expect(clicked).to.include({ deliveryId: delivery_id, kind: "clicked", buttonId: "buy", machine: false });
    expect(new Date(String(clicked?.["at"])).getTime(), "what is ahead counts as now").to.be.at.most(Date.now());
    expect(more, "what was not sent to it").to.deep.equal([]);
  });

  it("send events of their person, and each id once", async () => {
    const [one, other] = [await registered(), await registered()];
    const user = one.reply.user_id;
    const event = {
      id: randomUUID(),
      name: "cart.filled",
      properties: { items: 2 },
      occurred_at: "2999-01-01T00:00:00Z",
    };
    const send = (secret: string, events: object[]) => call("POST", "/sdk/v1/events", { secret, body: { events } });
    const old = { ...event, id: "old", occurred_at: "2020-01-01T00:00:00Z" };
    const first = await send(one.secret, [event, old]);
    expect([first.status, first.body["accepted"]]).to.deep.equal([202, 1]);
    expect(first.body["errors"]).to.have.lengthOf(1);
    expect((await send(one.secret, [event])).body).to.include({ accepted: 0, duplicates: 1 });
    expect((await send(other.secret, [event])).body, "of another device").to.include({ accepted: 1, duplicates: 0 });
    const [stored] = await eventsOf(user);
    expect(stored?.data).to.deep.include({
      source: "sdk",
      user_id: user,
      subscription_id: one.id,
      name: "cart.filled",
    });
    const [occurredAt, storedAt] = [stored?.data["occurred_at"], stored?.timestamp].map((at) => Date.parse(String(at)));
    expect(occurredAt, "what is ahead counts as now").to.be.at.most(storedAt ?? 0);
  });

  it("are refused reports about others, and of a wrong form", async () => {
    const [one, other] = [await registered(), await registered()];
    const receipt = { type: "received", message_id: "msg_x", occurred_at: new Date().toISOString() };
    const send = (at: string, body: object) => call("POST", `/sdk/v1/${at}`, { secret: one.secret, body });
    const foreign = await send("receipts", { receipts: [receipt, { ...receipt, subscription_id: other.id }] });
    expect(foreign.status).to.equal(404);
    const events = [{ id: "1", name: "x", subscription_id: other.id }];
    expect((await send("events", { events })).status).to.equal(404);
    for (const receipts of [
      [],
      Array.from({ length: 101 }, () => receipt),
      [{ ...receipt, url: "https://x.example" }],
      [{ ...receipt, type: "seen" }],
    ])
      expect((await send("receipts", { receipts })).status).to.equal(400);
    expect((await send("events", { events: [{ name: "without an id" }] })).status).to.equal(400);
    expect((await call("POST", "/sdk/v1/receipts", { body: { receipts: [receipt] } })).status).to.equal(401);
  });

  it("are told what their app has set for its clients", async () => {
    const set = { receipts_enabled: false, session_threshold_s: 90, log_level: "none" as const };
    const { app } = await seedTenant(site.db, { app: set });
    const ios = await call("GET", "/sdk/v1/config?platform=ios", { app: app._id });
    expect(ios.body).to.deep.include({ ...set, vapid_public_key: null });
  });

  it("may be pages of any origin", async () => {
    const asked = { Origin: "https://shop.example", "Access-Control-Request-Method": "PATCH" };
    const preflight = await fetch(`${site.api.url}${path}`, { method: "OPTIONS", headers: asked });
    expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).to.deep.equal([204, "*"]);
    expect(preflight.headers.get("Access-Control-Allow-Headers")).to.contain("X-HS-Subscription-Token");
    const { headers, body } = await call("GET", "/sdk/v1/config");
    expect(headers.get("Access-Control-Allow-Origin")).to.equal("*");
    expect(body).to.deep.include({ vapid_public_key: "BA", inbox_enabled: true });
    const known = { "X-HS-App-Id": tenant.app._id, "If-None-Match": headers.get("ETag") ?? "" };
    expect((await site.api.call("GET", "/sdk/v1/config", { headers: known })).status).to.equal(304);
    const refused = await fetch(`${site.api.url}${path}`, { method: "POST", headers: asked });
    expect(refused.headers.get("Access-Control-Allow-Origin")).to.equal("*");
  });
});
