import { expect } from "chai";
import { inboxNotices } from "#core/queue/inbox-notices.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { newSecret } from "#core/storage/people/devices.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { startApi } from "../../../support/api/api.ts";
import { type SeededDevice, seedDevice } from "../../../support/api/devices.ts";
import { type OpenStream, openStream } from "../../../support/api/event-stream.ts";
import { identitySigner } from "../../../support/api/identity-tokens.ts";
import { fillInbox, leaveItem, leaveItems } from "../../../support/api/inbox-items.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { until } from "../../../support/until.ts";

describe("the stream of an inbox", () => {
  const { key, sign } = identitySigner();
  const { site, tenant } = useSharedSite({ plan: { api_rps: 1_000 }, app: { identity_keys: [key] } });
  let nats: Nats;
  let streams: OpenStream[] = [];
  before(async () => {
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
  });
  after(() => nats.close());
  afterEach(async () => {
    for (const one of streams) await one.close();
    streams = [];
  });

  const open = async (device: SeededDevice, headers: Record<string, string> = {}): Promise<OpenStream> => {
    const stream = await openStream(site.api.url, { ...device.headers, ...headers });
    streams.push(stream);
    return stream;
  };
  const from = (device: SeededDevice, revision: number) => open(device, { "Last-Event-ID": String(revision) });
  const change = async (device: SeededDevice, body: object) => {
    const reply = await site.api.call("POST", "/sdk/v1/inbox/state", { headers: device.headers, body });
    expect(reply.status).to.equal(200);
  };
  const leave = (device: SeededDevice, count = 1, most?: number) =>
    leaveItems(site, device, { count, ...(most !== undefined && { most }) });
  /** Leaves an item as a dispatcher does, which tells of it. */
  const arrive = async (device: SeededDevice): Promise<string> => {
    const [id = ""] = await leave(device);
    inboxNotices({ nats, subjects: subjects(site.name) })([device.subscription.user_id]);
    return id;
  };
  const seed = (over: Partial<SubscriptionRow> = {}) => seedDevice(site, tenant, over);
  const subscriptions = () => site.db.collection<SubscriptionRow>(subscriptionCollection.name);

  it("says first what is counted, then what comes and changes, to each of a person's devices", async () => {
    const phone = await seed();
    const tablet = await seedDevice(site, tenant, { user: phone.user });
    await leave(phone, 2);
    const both = [await open(phone), await open(tablet)];
    for (const one of both) {
      expect([one.status, one.headers.get("content-type")]).to.deep.equal([200, "text/event-stream"]);
      expect(one.headers.get("cache-control")).to.equal("no-store, no-transform");
      expect(await one.next()).to.deep.equal({
        name: "inbox",
        id: "2",
        data: { user_id: phone.user._id, unread_count: 2, unseen_count: 2, revision: 2, items: [], removed: [] },
      });
    }
    const id = await arrive(phone);
    for (const one of both) {
      const { id: at, data } = await one.next();
      expect([at, data.unread_count, data.items.map((item) => [item.id, item.title, item.seen_at])]).to.deep.equal([
        "3",
        3,
        [[id, "Title 0", null]],
      ]);
    }
    await change(tablet, { ids: [id], state: "read" });
    for (const one of both) {
      const { data } = await one.next();
      expect([data.revision, data.unread_count, data.items.map((item) => item.id)]).to.deep.equal([4, 2, [id]]);
      expect(data.items[0]?.read_at).to.be.a("string");
    }
    await change(phone, { ids: [id], state: "deleted" });
    for (const one of both) {
      const { data } = await one.next();
      expect([data.items, data.removed]).to.deep.equal([[], [id]]);
    }
  });

  it("tells who comes back exactly what changed since, and nothing twice", async () => {
    const device = await seed();
    const [third = "", second = "", first = ""] = await leave(device, 3);
    await change(device, { ids: [first], state: "read" }); // 4
    await change(device, { ids: "all", state: "seen" }); // 5: the two others
    const [fourth = ""] = await leave(device); // 6
    await change(device, { ids: [third], state: "deleted" }); // 7
    const since = async (revision: number) => {
      const { name, data } = await (await from(device, revision)).next();
      return [name, data.items.map(({ id }) => id), data.removed];
    };
    expect(await since(3)).to.deep.equal(["inbox", [first, second, fourth], [third]]);
    expect(await since(4)).to.deep.equal(["inbox", [second, fourth], [third]]);
    expect(await since(5)).to.deep.equal(["inbox", [fourth], [third]]);
    expect(await since(6)).to.deep.equal(["inbox", [], [third]]);
    expect(await since(7)).to.deep.equal(["inbox", [], []]);
  });

  it("has who knows too little or too much read anew, once", async () => {
    const device = await seed();
    const [, , oldest = ""] = await leave(device, 3, 3);
    await leave(device, 1, 3); // the oldest makes room
    expect((await (await from(device, 3)).next()).data).to.deep.include({ removed: [oldest] });
    await leave(device, 20, 3);
    for (const revision of [3, 25]) {
      const stream = await from(device, revision);
      const { name, id, data } = await stream.next();
      expect([name, id, data.items, data.unread_count]).to.deep.equal(["reset", "24", [], 3]);
      await stream.close();
    }
    const many = await seed();
    await fillInbox(site, many, 101);
    expect((await (await from(many, 0)).next()).name).to.equal("reset");
    expect((await (await from(many, 1)).next()).data.items).to.have.length(100);
  });

  it("never tells of another person's items", async () => {
    const [one, other] = [await seed(), await seed()];
    const stream = await open(one);
    await stream.next();
    await arrive(other);
    await change(other, { ids: "all", state: "read" });
    const id = await arrive(one);
    const { data } = await stream.next();
    expect([data.user_id, data.items.map((item) => item.id)]).to.deep.equal([one.user._id, [id]]);
  });

  it("tells a device that has logged in without a token what came since, and all once it has proven itself", async () => {
    const owner = await seed({ external_id: "ann" });
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
    const device = await seedDevice(site, tenant, { user: owner.user, external_id: "ann", unproven_since: at(20) });
    const before = await leaveItem(site, owner, at(30));
    const since = await leaveItem(site, owner, at(10));
    const stream = await from(device, 0);
    const { name, data } = await stream.next();
    expect([name, data.unread_count, data.items.map(({ id }) => id)]).to.deep.equal(["inbox", 1, [since]]);
    await change(owner, { ids: [before], state: "deleted" });
    const { data: changed } = await stream.next();
    expect([changed.unread_count, changed.items, changed.removed]).to.deep.equal([1, [], []]);
    await leaveItem(site, owner, at(25));
    await subscriptions().updateOne({ _id: device.subscription._id }, { $unset: { unproven_since: "" } });
    const proven = async (): Promise<[string, number]> => {
      const { name: event, data: told } = await stream.next();
      return event === "reset" ? [event, told.unread_count] : proven(); // what came from before the login is found first
    };
    expect(await proven()).to.deep.equal(["reset", 2]);
  });

  it("is five at most of one device, and gives the place of one that was closed to the next", async () => {
    const device = await seed();
    const five = await Promise.all(Array.from({ length: 5 }, () => open(device)));
    expect(new Set(five.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const refused = await site.api.call("GET", "/sdk/v1/inbox/stream", { headers: device.headers });
    expect([refused.status, refused.body.error.details["limit"]]).to.deep.equal([429, 5]);
    expect((await site.api.call("HEAD", "/sdk/v1/inbox/stream", { headers: device.headers })).status).to.equal(429);
    await five[0]?.close();
    const again = async (): Promise<boolean> => (await open(device)).status === 200;
    await until(again, 60_000, 1_000); // the device's own rate
  });

  it("finds what nobody told it, ends with its secret, and goes with its subscription to another person", async () => {
    const [quiet, revoked, moved, owner] = [await seed(), await seed(), await seed(), await seed()];
    const [silent, ending, moving] = [await open(quiet), await open(revoked), await open(moved)];
    for (const one of [silent, ending, moving]) await one.next();
    const [id] = await leave(quiet);
    await leave(owner, 2);
    const { hash } = newSecret();
    await subscriptions().updateOne({ _id: revoked.subscription._id }, { $set: { "install.secret_hash": hash } });
    await subscriptions().updateOne({ _id: moved.subscription._id }, { $set: { user_id: owner.user._id } });
    expect((await silent.next()).data.items.map((item) => item.id)).to.deep.equal([id]);
    expect(await ending.rest()).to.match(/^(:\n\n)*retry: \d{4}\n\n$/);
    const { name, data } = await moving.next();
    expect([name, data.user_id, data.unread_count]).to.deep.equal(["reset", owner.user._id, 2]);
    const next = await arrive(owner);
    expect((await moving.next()).data.items.map((item) => item.id)).to.deep.equal([next]);
  });

  it("ends with the identity token that it was opened with", async () => {
    const device = await seed({ external_id: "ann" });
    const exp = Math.floor(Date.now() / 1_000) - 53; // clocks may differ by 60 s
    const token = await sign(tenant.app._id, { external_id: "ann" }, { exp });
    const stream = await open(device, { Authorization: `Bearer ${token}` });
    expect(stream.status).to.equal(200);
    expect(await stream.rest()).to.match(/retry: \d+\n\n$/);
    expect((await open(device, { Authorization: `Bearer ${token}` })).status).to.equal(401);
  });

  it("is one of as many as may be, and ends at once with a time to come back where a program stops", async () => {
    const { servers, name, db } = site;
    const env = { HERALD_INBOX_STREAMS: "2", HERALD_DRAIN_SECONDS: "1" };
    const api = await startApi(servers, { name, database: db.databaseName }, env);
    const devices = [await seed(), await seed(), await seed()];
    const openThere = (n: number) => openStream(api.url, devices[n]?.headers ?? {});
    const open = [await openThere(0), await openThere(1)];
    for (const one of open) await one.next();
    const refused = await openThere(2);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "1"]);
    const stopping = api.process.stop();
    for (const one of open) expect(await one.rest()).to.match(/retry: \d{4}\n\n$/);
    const late = await openThere(2); // a proxy that has not heard of it yet
    expect(late.status).to.equal(200);
    expect(await late.rest()).to.match(/^retry: \d{4}\n\n$/);
    await stopping;
  });

  it("refuses what is no request for a stream", async () => {
    const device = await seed();
    const ask = (headers: Record<string, string>) =>
      site.api.call("GET", "/sdk/v1/inbox/stream", { headers: { ...device.headers, ...headers } });
    for (const id of ["", "x", "1e3", "-1", "1".repeat(16)]) {
      const { status, body } = await ask({ "Last-Event-ID": id });
      expect([status, body.error.details["field"]], id).to.deep.equal([400, "header.Last-Event-ID"]);
    }
    expect((await ask({ Accept: "application/json" })).status).to.equal(406);
    expect((await ask({ "X-HS-Subscription-Token": "" })).status).to.equal(401);
    const other = await site.api.call("GET", "/sdk/v1/inbox", {
      headers: { ...device.headers, Accept: "text/event-stream" },
    });
    expect(other.status).to.equal(406);
    const head = await fetch(`${site.api.url}/sdk/v1/inbox/stream`, { method: "HEAD", headers: device.headers });
    expect([head.status, head.headers.get("content-type")]).to.deep.equal([200, "text/event-stream"]);
  });
});
