import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Reply } from "../../../support/api/api.ts";
import type { SeededDevice } from "../../../support/api/devices.ts";
import { type IdentityMode, identityModes, refusalOf, usePersons } from "../../../support/api/persons.ts";

describe("devices of a person", () => {
  const { site, appOf, users, ask, known, anonymous, stored, tokenOf, sign } = usePersons();
  const change = (device: SeededDevice, body: object, token?: string) => ask(device, "PATCH user", body, token);
  const setAlias = (device: SeededDevice, label: string, id: string, token?: string) =>
    ask(device, `PUT user/aliases/${label}`, { id }, token);
  const removeAlias = (device: SeededDevice, label: string, token?: string) =>
    ask(device, `DELETE user/aliases/${label}`, undefined, token);
  const login = (device: SeededDevice, body: object, token?: string) => ask(device, "POST login", body, token);

  it("say tags and the like of an anonymous one, which are merged, and removed by null", async () => {
    for (const mode of identityModes) {
      const device = await anonymous(mode);
      const first = await change(device, {
        tags: { plan: "gold", trial: true },
        properties: { size: 3 },
        language: "de",
        timezone: "Europe/Berlin",
        country: "DE",
        location: { lat: 52.5, long: 13.4 },
      });
      expect([first.status, first.body]).to.deep.equal([200, { user_id: device.user._id }]);
      await change(device, { tags: { plan: null, age: 30 }, properties: { size: null }, country: null });
      expect(await stored(device)).to.deep.include({
        tags: { trial: "true", age: "30" },
        properties: {},
        language: "de",
        time_zone: "Europe/Berlin",
        country: null,
        location: { lat: 52.5, long: 13.4 },
      });
    }
  });

  it("are refused what would pass a bound, or is no such value, and change nothing", async () => {
    const device = await anonymous("optional");
    const tags = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${from + n}`, "1"]));
    expect((await change(device, { tags: tags(0, 150) })).status).to.equal(200);
    const before = await stored(device);
    expect(refusalOf(await change(device, { tags: tags(0, 201) }))).to.deep.equal([400, "tags"]);
    const beyond = await change(device, { tags: tags(100, 101), language: "fr" });
    expect(refusalOf(beyond)).to.deep.equal([400, "tags"]);
    expect(beyond.body.error?.details?.["limit"]).to.equal(200);
    expect(refusalOf(await change(device, { timezone: "Moon/Crater" }))).to.deep.equal([400, "timezone"]);
    expect(refusalOf(await change(device, { amount_spent: 1 }))).to.deep.equal([400, "amount_spent"]);
    expect(refusalOf(await change(device, { external_id: "somebody" }))).to.deep.equal([400, "external_id"]);
    const quiet = { properties: { quiet_hours: { start: "00:00", end: "23:59" } } };
    expect(refusalOf(await change(device, quiet))).to.deep.equal([400, "properties.quiet_hours"]);
    expect(await stored(device)).to.deep.equal(before);
    const other = await anonymous("optional");
    expect(refusalOf(await change(other, { properties: { text: "x".repeat(65_537) } }))).to.deep.equal([
      400,
      "properties",
    ]);
    const large = await change(other, { properties: { text: "x".repeat(256 * 1024) } });
    expect([large.status, large.body.error?.code]).to.deep.equal([413, "HS_PAYLOAD_TOO_LARGE"]);
  });

  it("say tags without a token only where none is required, and never with another person's", async () => {
    const body = { tags: { plan: "gold" } };
    for (const mode of ["off", "optional"] as const)
      expect((await change(await known(mode), body)).status).to.equal(200);
    expect(
      (await change(await known("optional", {}, { unproven_since: new Date() }), body)).status,
      "it reads nothing",
    ).to.equal(200);
    const required = await known("required");
    expect(refusalOf(await change(required, body))).to.deep.equal([401, "missing"]);
    expect((await stored(required)).tags).to.deep.equal({});
    expect((await change(required, body, await tokenOf(required))).status).to.equal(200);
    const others = await sign(required.user.app_id, { external_id: "another" });
    expect(refusalOf(await change(required, { tags: { plan: "free" } }, others))).to.deep.equal([
      401,
      "identity_mismatch",
    ]);
    expect((await stored(required)).tags).to.deep.equal({ plan: "gold" });
  });

  it("give them aliases with a token, or where none is asked for, and take them away", async () => {
    for (const mode of ["optional", "required"] as const) {
      const device = await known(mode);
      expect(refusalOf(await setAlias(device, "crm", "C-1"))).to.deep.equal([401, "missing"]);
      const token = await tokenOf(device);
      const set = await setAlias(device, "crm", `C-${device.user._id}`, token);
      expect([set.status, set.body]).to.deep.equal([200, { user_id: device.user._id }]);
      expect((await stored(device)).aliases).to.deep.equal({ crm: `C-${device.user._id}` });
      expect(refusalOf(await removeAlias(device, "crm"))).to.deep.equal([401, "missing"]);
      expect((await removeAlias(device, "crm", token)).status).to.equal(200);
      expect((await removeAlias(device, "crm", token)).status).to.equal(404);
      expect((await stored(device)).aliases).to.deep.equal({});
    }
    const open = await anonymous("off");
    expect((await setAlias(open, "crm", `C-${open.user._id}`)).status).to.equal(200);
    const nobody = await anonymous("optional");
    expect(refusalOf(await setAlias(nobody, "crm", "C-2")), "nobody vouches for them").to.deep.equal([401, "missing"]);
  });

  it("never get an alias that another person has, is reserved, or that their token says otherwise", async () => {
    const [owner, device] = [await known("optional", { aliases: { crm: "C-9" } }), await known("optional")];
    const claimed = await setAlias(device, "crm", "C-9", await tokenOf(device));
    expect([claimed.status, claimed.body.error?.code]).to.deep.equal([409, "HS_ALIAS_CLAIMED"]);
    expect(claimed.body.error?.details).to.deep.equal({ label: "crm" });
    expect(claimed.text).not.to.contain(owner.user._id);
    const says = await tokenOf(device, { crm: "C-10" });
    expect(refusalOf(await setAlias(device, "crm", "C-11", says))).to.deep.equal([401, "identity_mismatch"]);
    expect((await setAlias(device, "crm", "C-10", says)).status).to.equal(200);
    const token = await tokenOf(device);
    expect(refusalOf(await setAlias(device, "crm", "null", token))).to.deep.equal([400, "aliases.crm"]);
    for (const label of ["external_id", "user_id", "Crm", "a".repeat(65)])
      expect(refusalOf(await setAlias(device, label, "x", token))).to.deep.equal([400, "label"]);
    expect((await stored(device)).aliases).to.deep.equal({ crm: "C-10" });
  });

  it("have at most 20 aliases", async () => {
    const aliases = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`a${n}`, randomUUID()]));
    const device = await known("off", { aliases });
    const beyond = await setAlias(device, "one_more", randomUUID());
    expect([...refusalOf(beyond), beyond.body.error?.details?.["limit"]]).to.deep.equal([400, "aliases", 20]);
    expect((await setAlias(device, "a0", randomUUID())).status, "another id under a label that is there").to.equal(200);
  });

  it("log in with aliases, of which others keep theirs", async () => {
    await known("optional", { aliases: { crm: "taken" } });
    const device = await anonymous("optional");
    const name = `with-${randomUUID()}`;
    const token = await sign(device.user.app_id, { external_id: name });
    const aliases = { crm: "taken", shop: `S-${name}` };
    expect(refusalOf(await login(device, { external_id: name, aliases }))).to.deep.equal([401, "missing"]);
    const twenty = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, "1"]));
    expect(refusalOf(await login(device, { external_id: name, aliases: twenty }, token))).to.deep.equal([
      400,
      "aliases",
    ]);
    expect((await stored(device)).external_id, "nothing was changed").to.equal(null);
    const done = await login(device, { external_id: name, aliases }, token);
    expect(done.body).to.deep.equal({ user_id: device.user._id, merged: false, claimed: ["crm"] });
    expect(await stored(device)).to.deep.include({ external_id: name, aliases: { shop: `S-${name}` } });
  });

  it("log in with aliases only where they fit beside those of the person", async () => {
    const aliases = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`a${n}`, randomUUID()]));
    const { user } = await known("off", { aliases });
    const device = await anonymous("off");
    const external_id = user.external_id ?? "";
    expect(refusalOf(await login(device, { external_id, aliases: { one_more: "1" } }))).to.deep.equal([400, "aliases"]);
    expect((await stored(device)).external_id).to.equal(null);
    expect((await login(device, { external_id })).body["merged"]).to.equal(true);
  });

  const register = (mode: IdentityMode, body: object, token?: string) =>
    ask({ headers: { "X-HS-App-Id": appOf(mode).app._id } }, "POST subscriptions", body, token);
  const anInstall = () => ({
    install_id: randomUUID(),
    channel: "ios_push",
    token: randomUUID().replaceAll("-", "").repeat(2),
  });
  const userOf = async ({ body }: Reply) =>
    (await users().findOne({ _id: String(body["user_id"]) })) ?? expect.fail("no user");

  it("register with tags, and as somebody", async () => {
    const install = anInstall();
    const first = await register("optional", { ...install, tags: { plan: "gold", age: 30 }, test_device: true });
    expect([first.status, (await userOf(first)).tags]).to.deep.equal([201, { plan: "gold", age: "30" }]);
    const row = await site.db
      .collection<SubscriptionRow>("subscriptions")
      .findOne({ user_id: String(first.body["user_id"]) });
    expect(row?.test_device).to.equal(true);
    const again = await register("optional", { ...install, tags: { plan: null } });
    expect([again.status, (await userOf(again)).tags]).to.deep.equal([200, { age: "30" }]);
    const name = `at-once-${randomUUID()}`;
    const token = await sign(appOf("required").app._id, { external_id: name });
    const whole = await register("required", { ...anInstall(), external_id: name, tags: { plan: "free" } }, token);
    expect(whole.status, whole.text).to.equal(201);
    expect(await userOf(whole)).to.deep.include({ external_id: name, tags: { plan: "free" } });
  });

  it("register nothing where what they say of somebody is refused", async () => {
    const { app } = appOf("required");
    const subscriptions = site.db.collection<SubscriptionRow>("subscriptions");
    const name = `known-${randomUUID()}`;
    const token = await sign(app._id, { external_id: name });
    const install = anInstall();
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`t${n}`, "1"]));
    expect(refusalOf(await register("required", { ...install, tags: many }))).to.deep.equal([400, "tags"]);
    expect(refusalOf(await register("required", { ...install, external_id: name }))).to.deep.equal([401, "missing"]);
    const other = { ...install, external_id: "another" };
    expect(refusalOf(await register("required", other, token))).to.deep.equal([401, "identity_mismatch"]);
    const nobodys = { ...install, tags: { plan: "gold" } };
    expect(refusalOf(await register("required", nobodys, token))).to.deep.equal([401, "identity_mismatch"]);
    expect(await subscriptions.countDocuments({ token: install.token })).to.equal(0);
    const made = await register("required", { ...install, external_id: name }, token);
    const before = await subscriptions.findOne({ token: install.token });
    expect(refusalOf(await register("required", nobodys)), "its person has a token").to.deep.equal([401, "missing"]);
    expect(await subscriptions.findOne({ token: install.token }), "its secret stays").to.deep.equal(before);
    expect((await register("required", nobodys, token)).body["user_id"]).to.equal(made.body["user_id"]);
    expect((await userOf(made)).tags).to.deep.equal({ plan: "gold" });
  });
});
