import { expect } from "chai";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("the channels that a message skips", () => {
  const { site, tenant } = useSharedSite();
  let of: Awaited<ReturnType<typeof seedTenant>>;

  before(async () => {
    const { ios_push } = tenant.app.channels;
    const channels = { ios_push, email: { ...ios_push }, sms: { ...ios_push } };
    of = await seedTenant(site.db, { app: { channels: channels as typeof tenant.app.channels } });
    const ids = { tenant_id: of.tenant._id, app_id: of.app._id };
    const anna = aUser({ ...ids, external_id: "anna" });
    const ofAnna = { ...ids, user_id: anna._id };
    const subscriptions = [
      aSubscription(ofAnna),
      aSubscription(ofAnna),
      aSubscription({ ...ofAnna, channel: "email", token: "anna@example.com" }),
      aSubscription({ ...ofAnna, channel: "sms", token: "+491700000001" }),
      aSubscription({ ...ofAnna, channel: "whatsapp", token: "+491700000001" }),
    ];
    await seed(site.db, { users: [anna], subscriptions });
  });

  const ask = async (path: string, body: object) =>
    (await site.api.call("POST", path, { token: of.token, body: { app_id: of.app._id, ...body } })).body;
  const text = { contents: { en: "x" } };

  for (const target of [{ all: true }, { include_external_ids: ["anna"] }])
    it(`are told by an estimate of ${Object.keys(target).join()} with whom each would reach, and why not`, async () => {
      expect(await ask("/v1/notifications/estimate", { target, ...text })).to.deep.include({
        recipients: 2,
        by_channel: { ios_push: 2 },
        skipped_channels: [
          { channel: "email", reason: "no_content", recipients: 1 },
          { channel: "sms", reason: "not_named", recipients: 1 },
          { channel: "whatsapp", reason: "not_configured", recipients: 1 },
        ],
      });
      expect(await ask("/v1/notifications/estimate", { target })).to.deep.include({
        recipients: 4,
        by_channel: { ios_push: 2, email: 1, sms: 1 },
        skipped_channels: [{ channel: "whatsapp", reason: "not_configured", recipients: 1 }],
      });
    });

  it("are told when it is accepted, and when its key is used again", async () => {
    const body = { target: { all: true }, ...text, idempotency_key: "skipping" };
    const [first, again] = [await ask("/v1/notifications", body), await ask("/v1/notifications", body)];
    expect(first).to.deep.include({
      recipients_estimate: 2,
      skipped_channels: [
        { channel: "email", reason: "no_content" },
        { channel: "sms", reason: "not_named" },
      ],
    });
    expect(again).to.deep.equal(first);
  });

  it("are none of one that names its channels", async () => {
    const target = { all: true, channels: ["ios_push"] };
    expect(await ask("/v1/notifications", { target, ...text })).not.to.have.property("skipped_channels");
    const estimated = await ask("/v1/notifications/estimate", { target, ...text });
    expect(estimated).to.deep.include({ recipients: 2, skipped_channels: [] });
  });
});
