import { randomInt } from "node:crypto";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { RemovalRow } from "#core/storage/work/removals.ts";
import type { SeededDevice } from "../../../support/api/devices.ts";
import { refusalOf, usePersons } from "../../../support/api/persons.ts";

describe("addresses of a device's person", () => {
  const { site, ask, known, anonymous, tokenOf, sign, users } = usePersons();
  const subscriptions = () => site.db.collection<SubscriptionRow>("subscriptions");
  const add = (device: SeededDevice, channel: "email" | "sms", body: object, token?: string) =>
    ask(device, `POST subscriptions/${device.subscription._id}/${channel}`, body, token);
  const aMail = () => `ann-${randomInt(1e9)}@example.com`;
  const aPhone = () => `+49151${randomInt(1e7, 1e8)}`;
  const granting = (device: SeededDevice, type: "Email" | "SMS", token: string) =>
    sign(device.user.app_id, { external_id: device.user.external_id }, { subscriptions: [{ type, token }] });

  it("are given to them by a token that has them, in their one spelling", async () => {
    for (const mode of ["optional", "required"] as const) {
      const device = await known(mode);
      const [mail, phone] = [aMail(), aPhone()];
      const first = await add(device, "email", { address: mail.toUpperCase() }, await granting(device, "Email", mail));
      expect(first.status, first.text).to.equal(201);
      expect(first.body).to.deep.include({ user_id: device.user._id, channel: "email", status: "subscribed" });
      const row = await subscriptions().findOne({ _id: first.body["subscription_id"] });
      expect(row).to.include({ token: mail, user_id: device.user._id, external_id: device.user.external_id });
      const again = await add(device, "email", { address: mail }, await granting(device, "Email", mail));
      expect([again.status, again.body]).to.deep.equal([200, first.body]);
      expect((await add(device, "sms", { address: phone }, await granting(device, "SMS", phone))).status).to.equal(201);
    }
  });

  it("are theirs without a token only where the app asks for none", async () => {
    const refused = [
      [await known("required"), 401],
      [await known("optional"), 401],
      [await anonymous("optional"), 401],
    ] as const;
    for (const [device, status] of refused) {
      const mail = aMail();
      expect(refusalOf(await add(device, "email", { address: mail }))).to.deep.equal([status, "missing"]);
      expect(await subscriptions().countDocuments({ token: mail })).to.equal(0);
    }
    expect((await add(await anonymous("off"), "email", { address: aMail() })).status).to.equal(201);
  });

  it("are not those that their token does not have", async () => {
    const device = await known("optional");
    const [mail, other] = [aMail(), aMail()];
    for (const token of [
      await tokenOf(device),
      await granting(device, "Email", other),
      await granting(device, "SMS", mail),
    ])
      expect(refusalOf(await add(device, "email", { address: mail }, token))).to.deep.equal([
        401,
        "subscription_not_granted",
      ]);
    const { user } = device;
    const odd = await sign(user.app_id, { external_id: user.external_id }, { subscriptions: "all" });
    expect(refusalOf(await add(device, "email", { address: mail }, odd))).to.deep.equal([401, "malformed"]);
    expect(await subscriptions().countDocuments({ token: mail })).to.equal(0);
  });

  it("stay opted out until their person opts in again", async () => {
    const device = await anonymous("off");
    const address = aMail();
    const out = await add(device, "email", { address, opted_in: false });
    expect([out.status, out.body["status"]]).to.deep.equal([201, "unsubscribed"]);
    expect((await add(device, "email", { address })).body["status"]).to.equal("unsubscribed");
    expect((await add(device, "email", { address, opted_in: true })).body["status"]).to.equal("subscribed");
  });

  it("are refused where they are none, or another's subscription is named", async () => {
    const [device, other] = [await anonymous("off"), await anonymous("off")];
    expect(refusalOf(await add(device, "email", { address: "nobody" }))).to.deep.equal([400, "address"]);
    expect(refusalOf(await add(device, "sms", { address: "0151 2345" }))).to.deep.equal([400, "address"]);
    const foreign = `POST subscriptions/${other.subscription._id}/email`;
    expect((await ask(device, foreign, { address: aMail() })).status).to.equal(404);
  });

  it("are erased with the person, who proves who they are", async () => {
    const device = await known("optional");
    expect(refusalOf(await ask(device, "POST erase", {}))).to.deep.equal([401, "missing"]);
    const open = await known("off");
    expect(refusalOf(await ask(open, "POST erase", {})), "anybody may log in as them").to.deep.equal([401, "missing"]);
    const other = await sign(device.user.app_id, { external_id: "another" });
    expect(refusalOf(await ask(device, "POST erase", {}, other))).to.deep.equal([401, "identity_mismatch"]);
    const foreign = { subscription_id: open.subscription._id };
    expect((await ask(device, "POST erase", foreign, await tokenOf(device))).status).to.equal(404);
    expect(await users().countDocuments({ _id: { $in: [device.user._id, open.user._id] } })).to.equal(2);
    for (const [one, token] of [
      [device, await tokenOf(device)],
      [await anonymous("required"), undefined],
    ] as const) {
      const erased = await ask(one, "POST erase", {}, token);
      expect([erased.status, erased.body]).to.deep.equal([202, { ok: true }]);
      expect(await users().countDocuments({ _id: one.user._id })).to.equal(0);
      expect(await subscriptions().countDocuments({ user_id: one.user._id })).to.equal(0);
      const removal = await site.db.collection<RemovalRow>("removals").findOne({ _id: one.user._id });
      expect(removal?.is_erased).to.equal(true);
      expect((await ask(one, "GET inbox")).status, "its secret has ended").to.equal(401);
    }
  });
});
