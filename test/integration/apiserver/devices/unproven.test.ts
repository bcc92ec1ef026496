import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { devices } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { SeededDevice } from "../../../support/api/devices.ts";
import { leaveItem } from "../../../support/api/inbox-items.ts";
import { usePersons } from "../../../support/api/persons.ts";

describe("devices that log in without a token, where that is optional", () => {
  const { site, appOf, ask, known, anonymous, users, tokenOf } = usePersons();
  const rows = () => site.db.collection<SubscriptionRow>("subscriptions");
  const minuteAgo = () => new Date(Date.now() - 60_000);
  const login = (device: Pick<SeededDevice, "headers">, { user }: SeededDevice, token?: string) =>
    ask(device, "POST login", { external_id: user.external_id }, token);
  const itemsOf = async (device: Pick<SeededDevice, "headers">, token?: string) => {
    const { status, body } = await ask(device, "GET inbox", undefined, token);
    expect(status).to.equal(200);
    return (body["data"] as unknown as { id: string }[]).map(({ id }) => id);
  };

  it("are moved alone and read what comes from then on, until they have one", async () => {
    const [first, second] = [await known("optional"), await anonymous("optional")];
    const token = await tokenOf(first);
    const old = await leaveItem(site, first, minuteAgo());
    expect((await login(second, first)).body).to.deep.equal({ user_id: first.user._id, merged: false, claimed: [] });
    const { user_id, external_id } = (await rows().findOne({ _id: second.subscription._id })) ?? {};
    expect([user_id, external_id]).to.deep.equal([first.user._id, first.user.external_id]);
    expect((await users().findOne({ _id: second.user._id }))?.external_id, "stays behind").to.equal(null);
    expect(await itemsOf(second)).to.deep.equal([]);
    const since = await leaveItem(site, first, new Date());
    expect((await login(second, first)).status, "it stays since when it was").to.equal(200);
    expect(await itemsOf(second)).to.deep.equal([since]);
    expect(await itemsOf(second, token), "asked with one").to.deep.equal([since, old]);
    expect(await itemsOf(first), "who has proven it once").to.deep.equal([since, old]);
    expect((await login(second, first, token)).status).to.equal(200);
    expect(await itemsOf(second)).to.deep.equal([since, old]);
  });

  it("read no more with another secret", async () => {
    const push = { channel: "ios_push", token: randomBytes(32).toString("hex") } as const;
    const [first, second] = [await known("optional"), await anonymous("optional", push)];
    const old = await leaveItem(site, first, minuteAgo());
    await login(second, first);
    const { install, token, channel } = second.subscription;
    const app = { headers: { "X-HS-App-Id": first.user.app_id } };
    const { status, body } = await ask(app, "POST subscriptions", { install_id: install?.id, token, channel });
    expect([status, body["subscription_id"]]).to.deep.equal([200, second.subscription._id]);
    const again = { headers: { ...app.headers, "X-HS-Subscription-Token": String(body["subscription_token"]) } };
    expect(await itemsOf(again)).to.deep.equal([]);
    await login(again, first, await tokenOf(first));
    expect(await itemsOf(again)).to.deep.equal([old]);
  });

  it("have proven to be one person alone, however they log in at once", async () => {
    const [proven, claimed] = [await known("optional"), await known("optional")];
    await leaveItem(site, claimed, minuteAgo());
    await login(proven, claimed);
    await devices(site.db).prove(proven.subscription, proven.user._id); // the last step of a login that was slower
    expect(await itemsOf(proven)).to.deep.equal([]);
  });

  it("read nothing of a person who becomes part of theirs from before that", async () => {
    const [part, whole, device] = [await known("optional"), await known("optional"), await anonymous("optional")];
    await login(device, part);
    const old = await leaveItem(site, whole, new Date());
    const { app, token } = appOf("optional");
    const path = `/v1/apps/${app._id}/users/by/user_id/${part.user._id}/merge`;
    const into = { label: "user_id", id: whole.user._id };
    expect((await site.api.call("POST", path, { token, body: { into } })).status).to.equal(200);
    expect(await itemsOf(part)).to.deep.equal([old]);
    expect(await itemsOf(device)).to.deep.equal([]);
  });
});
