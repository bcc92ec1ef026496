import { expect } from "chai";
import type { InboxRow } from "#core/storage/inbox/inboxes.ts";
import { type SeededDevice, seedDevice } from "../../../support/api/devices.ts";
import { fillInbox, leaveItem, leaveItems } from "../../../support/api/inbox-items.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

const hourMs = 3_600_000;

describe("the inbox of a person, on their devices", () => {
  const { site, tenant } = useSharedSite();

  const call = (device: SeededDevice, method: string, path = "", body?: object) =>
    site.api.call(method, `/sdk/v1/inbox${path}`, { headers: device.headers, ...(body && { body }) });
  const change = (device: SeededDevice, body: object) => call(device, "POST", "/state", body);
  const idsOf = async (device: SeededDevice, query = "") =>
    (await call(device, "GET", query)).body.data.map(({ id }) => id);

  const rows = () => site.db.collection<InboxRow>("inboxes");
  const leave = (device: SeededDevice, count: number) => leaveItems(site, device, { count });

  it("is shown in pages, the newest first, with what is counted", async () => {
    const device = await seedDevice(site, tenant);
    expect((await call(device, "GET")).body).to.deep.equal({
      data: [],
      next_cursor: null,
      has_more: false,
      unread_count: 0,
      unseen_count: 0,
      revision: 0,
    });
    const ids = await leave(device, 3);
    const { body: first } = await call(device, "GET", "?limit=2");
    expect(first).to.deep.include({ has_more: true, unread_count: 3, unseen_count: 3, revision: 3 });
    expect(first.data.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    expect(first.data[0]).to.deep.include({ title: "Title 2", read_at: null, archived_at: null, data: {} });
    await change(device, { ids: [ids[1]], state: "deleted" }); // it is where the next page begins
    expect(await idsOf(device, `?limit=2&cursor=${first.next_cursor}`)).to.deep.equal([ids[2]]);
  });

  it("is read in pages of which each has what is there by then, however many items it has", async () => {
    const device = await seedDevice(site, tenant);
    const ids = await fillInbox(site, device, 120);
    const { body: first } = await call(device, "GET", "?limit=30");
    expect(first.data.map(({ id }) => id)).to.deep.equal(ids.slice(0, 30));
    expect(first).to.deep.include({ unread_count: 120, has_more: true });
    const [newer] = await leave(device, 1);
    await change(device, { ids: [ids[30], ids[119]], state: "deleted" });
    const { body: second } = await call(device, "GET", `?limit=30&cursor=${first.next_cursor}`);
    expect(second.data.map(({ id }) => id)).to.deep.equal(ids.slice(31, 61));
    expect(second.unread_count).to.equal(119);
    expect(await idsOf(device, `?limit=100&cursor=${second.next_cursor}`)).to.deep.equal(ids.slice(61, 119));
    await change(device, { ids: [ids[100]], state: "archived" });
    expect(await idsOf(device, "?state=archived"), "far behind the newest").to.deep.equal([ids[100]]);
    expect((await idsOf(device))[0]).to.equal(newer);
    await rows().updateOne({ _id: device.user._id }, { $set: { next_expiry: new Date(0), unread: 7 } });
    expect((await call(device, "GET")).body.unread_count, "counted anew").to.equal(118);
  });

  it("changes by states, which count at once, and on another device of the person, too", async () => {
    const device = await seedDevice(site, tenant);
    const tablet = await seedDevice(site, tenant, { user: device.user });
    const [c = "", b = "", a = ""] = await leave(device, 3);
    const read = await change(device, { ids: [a], state: "read" });
    expect(read.body).to.deep.equal({ unread_count: 2, unseen_count: 2, revision: 4, missing: [] });
    expect((await change(device, { ids: "all", state: "seen" })).body).to.deep.include({ unseen_count: 0 });
    await change(device, { ids: [b], state: "archived" });
    const until = new Date(Date.now() + hourMs).toISOString();
    await change(device, { ids: [c], state: "snoozed", until });
    expect(await idsOf(tablet)).to.deep.equal([a]);
    expect(await idsOf(tablet, "?state=archived")).to.deep.equal([b]);
    expect(await idsOf(tablet, "?state=snoozed")).to.deep.equal([c]);
    expect(await idsOf(tablet, "?state=unread")).to.deep.equal([]);
    const { body } = await call(tablet, "GET", "?state=all");
    expect(body.data.map(({ id }) => id)).to.deep.equal([c, b, a]);
    expect(body.data[0]).to.include({ snoozed_until: until });
  });

  it("begins with the login of a device that has no token: what came before is neither shown, nor counted, nor changed", async () => {
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
    const owner = await seedDevice(site, tenant, { external_id: "ann" });
    const { user } = owner;
    const since = { user, external_id: "ann", unproven_since: at(20) };
    const device = await seedDevice(site, tenant, since);
    expect((await call(device, "GET")).body).to.deep.include({ data: [], unread_count: 0, revision: 0 });
    const before = await leaveItem(site, owner, at(30));
    const [first, second] = [await leaveItem(site, owner, at(10)), await leaveItem(site, owner, at(5))];
    const { body: page } = await call(device, "GET", "?limit=1");
    expect(page).to.deep.include({ unread_count: 2, unseen_count: 2, has_more: true });
    expect(await idsOf(device, `?limit=1&cursor=${page.next_cursor}`)).to.deep.equal([first]);
    expect(await idsOf(device, "?state=all")).to.deep.equal([second, first]);
    const { body: read } = await change(device, { ids: [before, first], state: "read" });
    expect(read).to.deep.include({ unread_count: 1, unseen_count: 1, missing: [before] });
    expect((await change(device, { ids: "all", state: "archived" })).body).to.deep.include({ unread_count: 0 });
    expect(await idsOf(owner)).to.deep.equal([before]);
    expect((await call(owner, "GET")).body).to.deep.include({ unread_count: 1, unseen_count: 1 });
    const anonymous = await seedDevice(site, tenant, { ...since, external_id: null });
    expect(await idsOf(anonymous), "nobody else's").to.deep.equal([before]);
  });

  it("says which ids are none of its items, another person's among them, and changes those not", async () => {
    const [device, other] = [await seedDevice(site, tenant), await seedDevice(site, tenant)];
    const [theirs = ""] = await leave(other, 1);
    const [own = ""] = await leave(device, 1);
    const { body } = await change(device, { ids: [theirs, own], state: "deleted" });
    expect(body).to.deep.include({ unread_count: 0, missing: [theirs] });
    expect((await call(other, "GET")).body).to.include({ unread_count: 1, revision: 1 });
  });

  it("refuses what is no change, and changes nothing", async () => {
    const device = await seedDevice(site, tenant);
    const [id = ""] = await leave(device, 1);
    const faults: [object, string][] = [
      [{ ids: [], state: "read" }, "ids"],
      [{ ids: ["itm_x"], state: "read" }, "ids[0]"],
      [{ ids: [id], state: "opened" }, "state"],
      [{ ids: [id], state: "snoozed" }, "until"],
      [{ ids: [id], state: "snoozed", until: "2020-01-01T00:00:00Z" }, "until"],
      [{ ids: [id], state: "read", until: "2030-01-01T00:00:00Z" }, "until"],
    ];
    for (const [body, field] of faults) {
      const reply = await change(device, body);
      expect([reply.status, reply.body.error?.details["field"]], JSON.stringify(body)).to.deep.equal([400, field]);
    }
    expect((await call(device, "GET")).body).to.include({ unread_count: 1, unseen_count: 1, revision: 1 });
  });

  it("is not sent again to who has it already", async () => {
    const device = await seedDevice(site, tenant);
    const [id = ""] = await leave(device, 1);
    const ask = (tag: string) =>
      site.api.call("GET", "/sdk/v1/inbox", { headers: { ...device.headers, "If-None-Match": tag } });
    const first = await ask('"another"');
    const tag = first.headers.get("etag") ?? "";
    expect([first.status, /^"[\w-]{22}"$/.test(tag)]).to.deep.equal([200, true]);
    for (const given of [tag, `W/${tag}`, `"another", ${tag}`, "*"]) {
      const { status, headers, text } = await ask(given);
      expect([status, headers.get("etag"), headers.get("content-type"), text], given).to.deep.equal([
        304,
        tag,
        null,
        "",
      ]);
    }
    await change(device, { ids: [id], state: "read" });
    const second = await ask(tag);
    expect([second.status, second.headers.get("etag") === tag]).to.deep.equal([200, false]);
  });

  it("is nobody's without the secret of a subscription", async () => {
    const device = await seedDevice(site, tenant);
    for (const secret of ["", "sst_of-somebody-else"]) {
      const headers = { ...device.headers, "X-HS-Subscription-Token": secret };
      expect((await call({ ...device, headers }, "GET")).status).to.equal(401);
    }
  });
});
