import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import { audience } from "#core/storage/messages/audience.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { useSite } from "../../../support/api/site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("addresses that a message names itself", () => {
  const { site, tenant } = useSite({}, { plan: { _id: "contacts" } });
  const said = { contents: { en: "x" }, email_subject: "s", email_body: "b" };
  const ofApp = () => ({ app_id: tenant.app._id });
  const subscriptions = () => site.db.collection<SubscriptionRow>(subscriptionCollection.name);
  const users = () => site.db.collection<UserRow>(userCollection.name);

  const ask = async (path: string, body: object, token = tenant.token, headers: Record<string, string> = {}) =>
    site.api.call("POST", path, { token, headers, body: { ...ofApp(), ...body } });
  const send = (target: object, more: object = {}) => ask("/v1/notifications", { target, ...said, ...more });
  const estimate = (target: object) => ask("/v1/notifications/estimate", { target, ...said });
  const at = (token: string) => subscriptions().find({ app_id: tenant.app._id, token }).sort({ channel: 1 }).toArray();
  const reached = async (target: Target): Promise<string[]> => {
    const wanted = (["email", "sms", "whatsapp"] as const).map((channel) => ({
      channel,
      status: "subscribed" as const,
    }));
    const found = await audience(site.db).resolve(target, {
      appId: tenant.app._id,
      stretches: wanted,
      testOnly: false,
    });
    return [...found.values()].flatMap((rows) => rows.map(({ token }) => token)).toSorted();
  };

  before(async () => {
    const ids = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const ada = aUser({ ...ids, external_id: "ada" });
    const mail = aSubscription({ ...ids, user_id: ada._id, channel: "email", token: "ada@example.com" });
    const number = aSubscription({
      ...ids,
      user_id: ada._id,
      external_id: "ada",
      channel: "sms",
      token: "+4915100000001",
    });
    const former = aSubscription({ ...ids, channel: "email", token: "former@example.com", status: "unsubscribed" });
    await seed(site.db, { users: [ada], subscriptions: [mail, number, former] });
  });

  it("are made once, of people of whom nothing else is known, with their events", async () => {
    const target = { email_to: ["New@Example.com", "new@example.com", "ada@example.com", "former@example.com"] };
    const counted = await estimate(target);
    expect(counted.body).to.deep.include({ recipients: 2, by_channel: { email: 2 }, new_contacts: 1 });
    expect(await at("new@example.com")).to.deep.equal([]);

    const key = newId("event", new Date());
    const first = await send(target, { idempotency_key: key });
    expect(first.status, first.text).to.equal(202);
    expect(first.body.recipients_estimate).to.equal(2);
    expect((await send(target, { idempotency_key: key })).body.id).to.equal(first.body.id);
    const [made, ...others] = await at("new@example.com");
    expect(others).to.deep.equal([]);
    expect(made).to.include({ channel: "email", status: "subscribed", external_id: null });
    const owner = await users().findOne({ _id: made?.user_id ?? "" });
    expect(owner).to.deep.include({ external_id: null, alias_keys: [`user_id:${owner?._id}`] });
    const [former] = await at("former@example.com");
    expect(former?.status).to.equal("unsubscribed");
    expect((await estimate(target)).body).to.deep.include({ recipients: 2, new_contacts: 0 });
    expect(await reached(target)).to.deep.equal(["ada@example.com", "new@example.com"]);
  });

  it("are made on each channel of a number, for the owner where there is one", async () => {
    const numbers = { include_phone_numbers: ["+49 151 000-00001", "+4915100000002"], channels: ["sms", "whatsapp"] };
    const { status, text } = await send(numbers, { email_subject: undefined, email_body: undefined });
    expect(status, text).to.equal(202);
    const [known, theirs] = await at("+4915100000001");
    expect([known?.channel, theirs?.channel]).to.deep.equal(["sms", "whatsapp"]);
    expect(theirs).to.include({ user_id: known?.user_id, external_id: "ada" });
    const [sms, whatsapp] = await at("+4915100000002");
    expect(whatsapp?.user_id).to.equal(sms?.user_id);
    expect(await reached(numbers as Target)).to.deep.equal([
      "+4915100000001",
      "+4915100000001",
      "+4915100000002",
      "+4915100000002",
    ]);
  });

  it("go by SMS where no channel is named", async () => {
    const { status, body, text } = await send({ include_phone_numbers: ["+4915100000003"] }, { contents: { en: "x" } });
    expect(status, text).to.equal(202);
    expect(body.recipients_estimate).to.equal(1);
    expect(JSON.stringify(body.skipped_channels ?? [])).not.to.include("sms");
    const row = await site.db.collection<{ _id: string; channels: string[] }>("messages").findOne({ _id: body.id });
    expect(row?.channels).to.include("sms");
  });

  it("are judged by filters as what they are", async () => {
    const target = { email_to: ["filtered@example.com", "ada@example.com"] };
    const named = { all: [{ field: "external_id", op: "exists" }] };
    expect((await estimate({ ...target, filters: named })).body).to.deep.include({ recipients: 1, new_contacts: 0 });
    const anonymous = { none: [named] };
    expect((await estimate({ ...target, filters: anonymous })).body).to.deep.include({
      recipients: 1,
      new_contacts: 1,
    });
  });

  it("are refused as a whole when the plan has no room for them", async () => {
    const small = await seedTenant(site.db, { plan: { _id: "small", subscribers: 1 } });
    const body = { ...said, app_id: small.app._id, target: { email_to: ["a@example.com", "b@example.com"] } };
    const reply = await ask("/v1/notifications", body, small.token);
    expect([reply.status, reply.body.error.details.metric]).to.deep.equal([429, "subscribers"]);
    const ofSmall = { app_id: small.app._id };
    expect(await users().countDocuments(ofSmall)).to.equal(0);
    expect(await site.db.collection("messages").countDocuments(ofSmall)).to.equal(0);
    const one = await ask("/v1/notifications", { ...body, target: { email_to: ["a@example.com"] } }, small.token);
    expect(one.status, one.text).to.equal(202);
  });

  it("are refused where the app has no account for them", async () => {
    const other = await seedTenant(site.db, { app: { channels: {} } });
    const body = { ...said, contents: undefined, app_id: other.app._id, target: { email_to: ["a@example.com"] } };
    const reply = await ask("/v1/notifications", body, other.token);
    expect([reply.status, reply.body.error.details]).to.deep.equal([409, { channel: "email" }]);
    expect(await users().countDocuments({ app_id: other.app._id })).to.equal(0);
  });
});
