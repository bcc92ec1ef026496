import { expect } from "chai";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import type { SeededDevice } from "../../../support/api/devices.ts";
import { seedDevice } from "../../../support/api/devices.ts";
import { identityModes, refusalOf, usePersons } from "../../../support/api/persons.ts";
import { aSubscription, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("preferences of a device's person", () => {
  const quiet = { enabled: true, start: "22:00", end: "08:00" };
  const offered = { pages: { categories: [{ category: "promo", name: "Offers" }] } };
  const { site, appOf, ask, known, anonymous, stored, tokenOf, sign } = usePersons({
    ...(offered as object), // what settings leave out is their default
    quiet_hours: { ...quiet, days: null, timezone: "user", channels: null, mode: "hold" },
  });
  const set = (device: SeededDevice, body: object, token?: string) => ask(device, "PUT user/preferences", body, token);
  const show = (device: SeededDevice, token?: string) => ask(device, "GET user/preferences", undefined, token);
  const entries = ({ user }: SeededDevice) =>
    site.db.collection<SuppressionRow>("suppressions").find({ app_id: user.app_id, user_id: user._id }).toArray();
  /** How many of a device's messages of a category would come. */
  const reached = async (mode: "off" | "optional", ids: string[], category: string) => {
    const { app, token } = appOf(mode);
    const body = { app_id: app._id, target: { include_subscription_ids: ids }, category, contents: { en: "x" } };
    const reply = await site.api.call("POST", "/v1/notifications/estimate", { token, body });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body["recipients"];
  };

  it("hold back categories from an anonymous person by channel, until they want them again", async () => {
    const device = await anonymous("optional");
    const ids = [device.subscription._id];
    expect((await show(device)).body["categories"])
      .to.have.property("promo")
      .that.includes({ ios_push: true, email: true });
    const off = await set(device, {
      categories: { promo: { ios_push: false }, news: { ios_push: false, email: true } },
    });
    expect(off.body["categories"]).to.deep.include({
      promo: { ...everywhere, ios_push: false },
      news: { ...everywhere, ios_push: false },
    });
    const [entry, ...others] = await entries(device);
    expect(others).to.have.length(0);
    expect(entry).to.deep.include({ channel: "ios_push", reason: "unsubscribe", source: "sdk", external_id: null });
    expect(await reached("optional", ids, "promo")).to.equal(0);
    expect(await reached("optional", ids, "orders")).to.equal(1);
    const other = await anonymous("optional");
    expect(await reached("optional", [other.subscription._id], "promo"), "another person").to.equal(1);
    const back = await set(device, { categories: { promo: { ios_push: true }, news: { ios_push: true } } });
    expect(back.body["categories"]).to.deep.equal({ promo: everywhere });
    expect(await entries(device)).to.have.length(0);
    expect(await reached("optional", ids, "promo")).to.equal(1);
  });

  it("hold on after a login, whether the person is named or merged", async () => {
    const device = await anonymous("off");
    await set(device, { categories: { promo: { ios_push: false } } });
    const external_id = `named-${device.user._id}`;
    expect((await ask(device, "POST login", { external_id })).body["merged"]).to.equal(false);
    expect(await reached("off", [device.subscription._id], "promo")).to.equal(0);
    const second = await anonymous("off");
    await set(second, { categories: { news: { ios_push: false } } });
    expect((await ask(second, "POST login", { external_id })).body["merged"]).to.equal(true);
    const both = [device.subscription._id, second.subscription._id];
    expect(await reached("off", both, "promo")).to.equal(0);
    expect(await reached("off", both, "news")).to.equal(0);
    const shown = await show(second);
    expect(shown.body["categories"]).to.deep.include({
      promo: { ...everywhere, ios_push: false },
      news: { ...everywhere, ios_push: false },
    });
  });

  it("take back what the person chose by mail, and leave what others said", async () => {
    const device = await known("off");
    const { tenant, app, token } = appOf("off");
    const address = `${device.user._id}@example.com`.toLowerCase();
    const of = { tenant_id: tenant._id, app_id: app._id, user_id: device.user._id };
    const mail = aSubscription({ ...of, external_id: device.user.external_id, channel: "email", token: address });
    await seed(site.db, { subscriptions: [mail] });
    const path = `/v1/apps/${app._id}/suppressions`;
    const chosen = { address, channel: "email", reason: "unsubscribe", categories: ["promo"] };
    await site.api.call("POST", path, { token, body: chosen });
    const manual = { external_id: device.user.external_id, channel: "email", categories: ["orders"] };
    await site.api.call("POST", path, { token, body: manual });
    const before = (await show(device)).body["categories"];
    expect(before).to.deep.include({ promo: { ...everywhere, email: false }, orders: { ...everywhere, email: false } });
    const after = await set(device, { categories: { promo: { email: true }, orders: { email: true } } });
    expect(after.body["categories"]).to.deep.include({ promo: everywhere, orders: { ...everywhere, email: false } });
  });

  it("are quiet hours of their own in the place of the app's", async () => {
    const device = await anonymous("optional");
    expect((await show(device)).body["quiet_hours"]).to.deep.equal({ ...quiet, own: false });
    const own = { enabled: true, start: "21:00", end: "9:30" };
    expect((await set(device, { quiet_hours: own })).body["quiet_hours"]).to.deep.equal({ ...own, own: true });
    expect((await stored(device)).properties["quiet_hours"]).to.deep.equal({ start: "21:00", end: "9:30" });
    const none = await set(device, { quiet_hours: { enabled: false } });
    expect(none.body["quiet_hours"]).to.deep.equal({ ...quiet, enabled: false, own: true });
    expect((await set(device, { quiet_hours: null })).body["quiet_hours"]).to.deep.equal({ ...quiet, own: false });
    expect((await stored(device)).properties).to.deep.equal({});
  });

  it("are refused where they make no sense, and nothing is changed", async () => {
    const device = await anonymous("off");
    const field = async (body: object) => refusalOf(await set(device, body));
    expect(await field({ categories: { promo: { fax: false } } })).to.deep.equal([400, "categories.promo.fax"]);
    expect(await field({ categories: { promo: {} } })).to.deep.equal([400, "categories.promo"]);
    expect(await field({ quiet_hours: { enabled: true, start: "21:00" } })).to.deep.equal([400, "quiet_hours.end"]);
    const same = { enabled: true, start: "9:00", end: "09:00" };
    expect(await field({ quiet_hours: same, categories: { promo: { email: false } } })).to.deep.equal([
      400,
      "quiet_hours.end",
    ]);
    expect(await field({ quiet_hours: { enabled: false, end: "9:00" } })).to.deep.equal([400, "quiet_hours.end"]);
    const many = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${from + n}`, { ios_push: false }]));
    expect(await field({ categories: many(0, 21) })).to.deep.equal([400, "categories"]);
    const other = await anonymous("off");
    expect((await set(other, { categories: many(0, 15) })).status).to.equal(200);
    expect(refusalOf(await set(other, { categories: many(15, 6) }))).to.deep.equal([400, "categories"]);
    expect((await entries(other))[0]?.categories).to.have.length(15);
    expect(await entries(device)).to.have.length(0);
    const plain = await seedTenant(site.db);
    const silent = await seedDevice(site, plain);
    expect(refusalOf(await set(silent, { quiet_hours: { enabled: false } }))).to.deep.equal([400, "quiet_hours"]);
    expect((await show(silent)).body["quiet_hours"]).to.equal(null);
  });

  it("are a person's own: a token is asked for as it is of an inbox", async () => {
    for (const mode of identityModes) {
      const device = await known(mode);
      const token = await tokenOf(device);
      expect((await show(device, token)).status).to.equal(200);
      const without = await show(device);
      expect(refusalOf(without)).to.deep.equal(mode === "required" ? [401, "missing"] : [200, undefined]);
      const others = await sign(device.user.app_id, { external_id: "another" });
      expect(refusalOf(await set(device, { quiet_hours: null }, others))).to.deep.equal([401, "identity_mismatch"]);
    }
    const unproven = await known("optional", {}, { unproven_since: new Date() });
    expect(refusalOf(await show(unproven))).to.deep.equal([401, "missing"]);
    expect(refusalOf(await set(unproven, { categories: { promo: { ios_push: false } } }))).to.deep.equal([
      401,
      "missing",
    ]);
    expect(await entries(unproven)).to.have.length(0);
  });
});

const everywhere = {
  ios_push: true,
  android_push: true,
  hms_push: true,
  web_push: true,
  email: true,
  sms: true,
  whatsapp: true,
  rcs: true,
};
