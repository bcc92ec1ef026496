import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { allCollections } from "#core/storage/collections.ts";
import { useSite } from "../../../support/api/site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("an estimate", () => {
  const { site, tenant } = useSite({}, { plan: { _id: "counted", messages_per_month: 100 } });

  const ask = async (path: string, body: object, token = tenant.token) => {
    const reply = await site.api.call("POST", path, { token, body: { app_id: tenant.app._id, ...body } });
    return { status: reply.status, body: reply.body, error: reply.body.error };
  };
  const estimate = (target: object, more: object = {}) => ask("/v1/notifications/estimate", { target, ...more });
  const said = { contents: { en: "x" }, email_subject: "s", email_body: "b" };
  const send = (target: object, more: object = {}) => ask("/v1/notifications", { target, ...said, ...more });
  const stored = async () => {
    const counts = allCollections.map(({ name }) => site.db.collection(name).countDocuments());
    return Promise.all(counts);
  };
  const reserved = () => site.db.collection("usage").distinct("messages");
  const unknown = newId("subscription", new Date());

  before(async () => {
    const ids = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const anna = aUser({ ...ids, external_id: "anna", aliases: { crm: "7" } });
    const ofAnna = { ...ids, user_id: anna._id };
    const phone = aSubscription({ ...ofAnna, test_device: true });
    const tablet = aSubscription(ofAnna);
    const mail = aSubscription({ ...ofAnna, channel: "email", token: "anna@example.com" });
    const former = aSubscription({ ...ids, channel: "email", token: "former@example.com", status: "unsubscribed" });
    const dead = aSubscription({ ...ids, channel: "email", token: "dead@example.com", status: "invalid" });
    await seed(site.db, { users: [anna], subscriptions: [phone, tablet, mail, former, dead] });
  });

  const anna = { include_external_ids: ["anna", "nobody"], include_aliases: { crm: ["7", "8"] } };
  const cases: { it: string; target: object; more?: object; by_channel: Record<string, number> }[] = [
    { it: "everybody", target: { all: true }, by_channel: { ios_push: 2, email: 1 } },
    { it: "one channel alone", target: { all: true, channels: ["email"] }, by_channel: { email: 1 } },
    { it: "test devices", target: { all: true, test_devices_only: true }, by_channel: { ios_push: 1 } },
    { it: "named people, each of their addresses once", target: anna, by_channel: { ios_push: 2, email: 1 } },
    { it: "nobody at all", target: { include_subscription_ids: [unknown] }, by_channel: {} },
    {
      it: "the unsubscribed of e-mail when they are asked for",
      target: { all: true },
      more: { include_unsubscribed: true },
      by_channel: { ios_push: 2, email: 2 },
    },
  ];
  for (const { it: name, target, more, by_channel } of cases) {
    it(`counts ${name}, as many as a message would`, async () => {
      const recipients = Object.values(by_channel).reduce((sum, count) => sum + count, 0);
      const { body, status } = await estimate(target, more);
      expect(status).to.equal(200);
      expect(body).to.deep.include({ recipients, by_channel, new_contacts: 0 });
      expect((await send(target, more)).body.recipients_estimate).to.equal(recipients);
    });
  }

  it("counts each person once for a message that reaches them once", async () => {
    for (const target of [{ all: true }, anna, { filters: { all: [] } }])
      expect((await send(target, { one_per_user: true })).body.recipients_estimate).to.equal(1);
  });

  it("names the ids that nobody has, as the reply to a message does", async () => {
    const target = { ...anna, include_subscription_ids: [unknown] };
    const { body } = await estimate(target);
    const missing = { subscription_ids: [unknown], aliases: { crm: ["8"] } };
    expect(body).to.deep.include({ external_id_missing: ["nobody"], missing });
    expect((await send(target)).body).to.deep.include({ external_id_missing: ["nobody"], missing });
  });

  it("stores, reserves and counts nothing", async () => {
    const before = await stored();
    const used = await reserved();
    await estimate({ all: true });
    expect(await stored()).to.deep.equal(before);
    expect(await reserved()).to.deep.equal(used);
  });

  const refusals: { it: string; target: object }[] = [
    { it: "a target of nothing", target: {} },
    { it: "channels alone", target: { channels: ["email"] } },
    { it: "an id that is none", target: { include_subscription_ids: ["sub_1"] } },
    { it: "a label that no user has", target: { include_aliases: { crn: ["7"] } } },
    { it: "an address that is none", target: { email_to: ["a@localhost"] } },
    { it: "too many ids", target: { include_external_ids: Array.from({ length: 2_001 }, (_, i) => `u${i}`) } },
  ];
  for (const { it: name, target } of refusals) {
    it(`of ${name} is refused like a message to it`, async () => {
      const [{ status, error }, message] = await Promise.all([estimate(target), send(target)]);
      expect(status).to.equal(400);
      expect([error.code, error.details]).to.deep.equal([message.error.code, message.error.details]);
    });
  }

  it("of a channel that the app has no account for is refused, and so is one of an app without any", async () => {
    const other = await seedTenant(site.db, { app: { channels: {} } });
    const app_id = other.app._id;
    for (const channels of [undefined, ["email"]]) {
      const body = { app_id, target: { all: true, ...(channels && { channels }) } };
      const { status, error } = await ask("/v1/notifications/estimate", body, other.token);
      expect([status, error.code]).to.deep.equal([409, "HS_CHANNEL_NOT_CONFIGURED"]);
    }
  });

  it("needs a key that may send", async () => {
    const other = await seedTenant(site.db, { key: { scopes: ["analytics:read"] } });
    const body = { app_id: other.app._id, target: { all: true } };
    expect((await ask("/v1/notifications/estimate", body, other.token)).status).to.equal(403);
  });

  it("is given ten times a second to an app, whichever key asks", async () => {
    const other = await seedTenant(site.db);
    const body = { app_id: other.app._id, target: { all: true } };
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => ask("/v1/notifications/estimate", body, other.token)),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).to.not.be.empty;
    expect(refused[0]?.error.details).to.deep.include({ limit: 10, window_seconds: 1 });
  });
});
