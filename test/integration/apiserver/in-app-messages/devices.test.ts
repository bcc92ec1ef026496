import { expect } from "chai";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import type { InAppEventRow } from "#core/storage/in-app-messages/events.ts";
import { type SeededDevice, seedDevice } from "../../../support/api/devices.ts";
import { aVariant } from "../../../support/api/in-app-messages.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

let count = 0;
const aName = () => `Shown ${count++}`;

describe("in-app messages on devices", () => {
  const { site } = useSharedSite();
  let tenant: Awaited<ReturnType<typeof seedTenant>>;

  before(async () => {
    tenant = await seedTenant(site.db); // what is active is all of an app's
  });

  /** No stream is there: what is to be published waits in the store. */
  const eventsOf = async (appId: string): Promise<EventEnvelope[]> => {
    const batches = await site.db.collection<EventBatchRow>("event_batches").find({ app_id: appId }).toArray();
    return batches.flatMap(({ events }) => events.map(({ text }) => JSON.parse(text) as EventEnvelope)); // sound: our own text
  };

  const ask = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const make = async (body: object = {}) => {
    const members = { name: aName(), status: "active", variants: [aVariant()], ...body };
    const made = await ask("POST", "/in-app-messages", members);
    expect(made.status, made.text).to.equal(201);
    return made.body.id;
  };
  const call = (device: SeededDevice, method: string, path = "", body?: object) =>
    site.api.call(method, `/sdk/v1/in-app-messages${path}`, { headers: device.headers, ...(body && { body }) });
  const shownTo = async (device: SeededDevice, query = "") => {
    const { body } = await call(device, "GET", query);
    return body as unknown as { messages: { id: string; content: object }[]; ids: string[]; as_of: string }; // sound: the operation's reply
  };

  it("are not sent again to a device that has them, whenever it asks", async () => {
    const device = await seedDevice(site, tenant);
    await make();
    const ask = (tag: string) =>
      site.api.call("GET", "/sdk/v1/in-app-messages", { headers: { ...device.headers, "If-None-Match": tag } });
    const first = await ask('"none"');
    const tag = first.headers.get("etag") ?? "";
    await until(() => Date.parse(String(first.body["as_of"])) < Date.now()); // it would say another time
    const again = await ask(tag);
    expect([first.status, again.status, again.text]).to.deep.equal([200, 304, ""]);
    await make();
    expect((await ask(tag)).status).to.equal(200);
  });

  it("are those that are active and due, the highest priority first, in the person's language", async () => {
    const device = await seedDevice(site, tenant, { language: "de" });
    const content = { body: { en: "Hello", de: "Hallo" }, buttons: [{ id: "a", text: { en: "Go" } }] };
    const low = await make({ variants: [aVariant({ content })], triggers: [{ session: true }] });
    const high = await make({ priority: 5 });
    const past = "2020-01-01T00:00:00Z";
    const others = [
      await make({ status: "paused" }),
      await make({ end_at: past }),
      await make({ start_at: "2100-01-01T00:00:00Z" }),
    ];
    const { messages, ids, as_of: asOf } = await shownTo(device);
    expect(ids.filter((id) => [low, high, ...others].includes(id))).to.deep.equal([high, low]);
    const shown = messages.find(({ id }) => id === low);
    expect(shown).to.deep.include({ variant_id: "a", triggers: [{ session: true }], redisplay: null, priority: 0 });
    expect(shown?.content).to.deep.equal({
      layout: "modal",
      title: null,
      body: "Hallo",
      image_url: null,
      buttons: [{ id: "a", text: "Go", action: "dismiss", url: null }],
      background: null,
    });
    await ask("PATCH", `/in-app-messages/${high}`, { priority: 6 });
    const later = await shownTo(device, `?since=${asOf}`);
    expect(later.messages.map(({ id }) => id)).to.deep.equal([high]);
    expect(later.ids).to.include.members([low, high]);
  });

  it("are for whom their segments mean as the device asks, and nobody's once a segment is gone", async () => {
    const [device, other] = [await seedDevice(site, tenant), await seedDevice(site, tenant)];
    const { body: list } = await ask("POST", "/segments", { name: aName(), kind: "list" });
    const included = await make({ target: { included_segments: [list.id] } });
    const excluded = await make({ target: { excluded_segments: [list.id] } });
    const both = [included, excluded];
    const idsOf = async (of: SeededDevice) => (await shownTo(of)).ids.filter((id) => both.includes(id));
    expect(await idsOf(device)).to.deep.equal([excluded]);
    await ask("POST", `/segments/${list.id}/members`, { users: [{ label: "user_id", id: device.user._id }] });
    expect(await idsOf(device)).to.deep.equal([included]);
    expect(await idsOf(other)).to.deep.equal([excluded]);
    await ask("DELETE", `/segments/${list.id}?force=true`);
    expect([await idsOf(device), await idsOf(other)]).to.deep.equal([[], []]);
  });

  it("report what was done with them as events, and count it by variant", async () => {
    const device = await seedDevice(site, tenant);
    const id = await make();
    const report = (body: object) => call(device, "POST", `/${id}/events`, { variant_id: "a", ...body });
    const replies = [
      await report({ type: "impression", first: true }),
      await report({ type: "impression" }),
      await report({ type: "clicked", click_id: "go", first: true }),
      await report({ type: "dismissed" }),
    ];
    expect(replies.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202]);
    const ids = replies.map(({ body }) => body["event_id"]);
    const clicked = (await eventsOf(tenant.app._id)).find((event) => event.id === ids[2]);
    parser(eventTypes["in_app.clicked"].data)(clicked?.data);
    expect(clicked).to.deep.include({ type: "in_app.clicked", subject_id: device.subscription._id });
    expect(clicked?.data).to.include({
      in_app_message_id: id,
      variant_id: "a",
      click_id: "go",
      user_id: device.user._id,
    });
    const { body } = await ask("GET", `/in-app-messages/${id}/counts`);
    expect(body["variants"]).to.deep.equal([
      {
        variant_id: "a",
        impressions: 2,
        page_impressions: 0,
        clicks: 1,
        dismissals: 1,
        first_impressions: 1,
        first_clicks: 1,
      },
    ]);
  });

  it("count once what has an id and is told again, for each device", async () => {
    const [device, other] = [await seedDevice(site, tenant), await seedDevice(site, tenant)];
    const id = await make();
    const body = { id: "9c5b2f0e-1d0e-4a53-8a55-1f6f3f0b9a11", type: "impression", variant_id: "a", first: true };
    const ids: unknown[] = [];
    for (const one of [device, device, other]) {
      const { status, body: reply } = await call(one, "POST", `/${id}/events`, body);
      expect(status).to.equal(202);
      ids.push(reply["event_id"]);
    }
    expect(ids[0]).to.equal(ids[1]).and.not.to.equal(ids[2]);
    const stored = await site.db.collection<InAppEventRow>("in_app_events").find({ message_id: id }).toArray();
    expect(stored.map((row) => row._id)).to.have.members([ids[0], ids[2]]);
    expect(stored.map((row) => row.user_id)).to.have.members([device.user._id, other.user._id]);
    const { body: counts } = await ask("GET", `/in-app-messages/${id}/counts`);
    expect(counts["variants"]).to.have.nested.property("[0].first_impressions", 2);
  });

  it("refuse what is no event of theirs, and those of another app", async () => {
    const device = await seedDevice(site, tenant);
    const id = await make();
    const faults: [object, string][] = [
      [{ type: "opened", variant_id: "a" }, "type"],
      [{ type: "impression" }, "variant_id"],
      [{ type: "impression", variant_id: "z" }, "variant_id"],
      [{ type: "page_impression", variant_id: "a" }, "page_id"],
      [{ type: "clicked", variant_id: "a" }, "click_id"],
      [{ type: "dismissed", variant_id: "a", click_id: "go" }, "click_id"],
    ];
    for (const [body, field] of faults) {
      const reply = await call(device, "POST", `/${id}/events`, body);
      expect([reply.status, reply.body.error?.details["field"]], JSON.stringify(body)).to.deep.equal([400, field]);
    }
    const stranger = await seedDevice(site, await seedTenant(site.db));
    const impression = { type: "impression", variant_id: "a" };
    expect((await call(stranger, "POST", `/${id}/events`, impression)).status).to.equal(404);
    expect(await site.db.collection("in_app_counts").countDocuments({ _id: id as never })).to.equal(0);
    expect(await site.db.collection("in_app_events").countDocuments({ message_id: id })).to.equal(0);
  });
});
