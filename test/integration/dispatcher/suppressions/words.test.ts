import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { contactSubscriptions } from "#core/storage/people/ended.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import {
  type SuppressionRow,
  suppressionCollection,
  suppressions as suppressionStore,
} from "#core/storage/suppressions/suppressions.ts";
import { followedWords } from "#core/storage/suppressions/words.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { suppressor } from "../../../../dispatcher/suppressions/suppress.ts";
import { seedMails } from "../../../support/callbacks/deliveries.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };

describe("words that people send", () => {
  const db = testDatabase("words");
  const clock = { now: () => new Date() };
  const list = () => suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined });
  const stop = {
    reason: "carrier_opt_out",
    source: "keyword",
    categories: null,
    note: null,
    expires_at: null,
  } as const;

  it("stop and start messages to their address, on that channel alone", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const [{ subscription }] = mails as [(typeof mails)[number]]; // one was seeded
    const cause = {
      of: { tenantId: of.tenant_id, appId: of.app_id },
      channel: "email" as const,
      address: subscription.token,
      at: new Date(),
    };
    const rows = db().collection<SubscriptionRow>(subscriptionCollection.name);
    const entries = db().collection<SuppressionRow>(suppressionCollection.name);
    await list().suppress([{ ...cause, said: stop }]);
    expect(await rows.findOne({ _id: subscription._id })).to.include({ status: "unsubscribed" });
    await list().lift({ ...cause, at: new Date(cause.at.getTime() - 1_000) }); // a START of before
    expect(await entries.countDocuments()).to.equal(1);
    await list().lift({ ...cause, channel: "sms" as const, at: new Date() });
    expect(await entries.countDocuments()).to.equal(1);
    await list().lift({ ...cause, at: new Date() });
    expect(await entries.countDocuments()).to.equal(0);
    expect(await rows.findOne({ _id: subscription._id })).to.include({ status: "subscribed", unsubscribed_at: null });
  });

  it("start messages also when a kill came between the subscription and the list", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const [{ subscription }] = mails as [(typeof mails)[number]]; // one was seeded
    const of1 = { tenantId: of.tenant_id, appId: of.app_id };
    const cause = { of: of1, channel: "email" as const, address: subscription.token, at: new Date() };
    await list().suppress([{ ...cause, said: { ...stop, reason: "unsubscribe", source: "provider" } }]);
    const stores = {
      suppressions: suppressionStore(db()),
      subjectsOf: suppressionKeys(db(), keyRing(testKeyRing), clock),
      clock,
    };
    const killed = async () => {
      throw new Error("killed");
    };
    const lifted = { ...cause, at: new Date() };
    const dying = suppressor({ ...stores, subscriptions: { ...contactSubscriptions(db()), resume: killed } });
    expect(await dying.lift(lifted).catch((error: Error) => error.message)).to.equal("killed");
    await list().lift(lifted);
    const rows = db().collection<SubscriptionRow>(subscriptionCollection.name);
    expect(await rows.findOne({ _id: subscription._id })).to.include({ status: "subscribed" });
    expect(await stores.suppressions.isAny(of.app_id, "email")).to.equal(false);
  });

  it("are remembered once they were followed, by their app and provider", async () => {
    const words = followedWords(db());
    const said = { of: { tenantId: of.tenant_id, appId: of.app_id }, provider: "twilio", ids: ["SM1", "SM2"] };
    expect([...(await words.known(said))]).to.deep.equal([]);
    await words.remember(said, new Date());
    await words.remember({ ...said, ids: ["SM2", "SM3", "SM3"] }, new Date());
    expect([...(await words.known({ ...said, ids: ["SM1", "SM2", "SM3", "SM4"] }))]).to.have.members([
      "SM1",
      "SM2",
      "SM3",
    ]);
    expect([...(await words.known({ ...said, provider: "vonage" }))]).to.deep.equal([]);
    expect([...(await words.known({ ...said, of: { ...said.of, appId: "app_2" } }))]).to.deep.equal([]);
  });

  it("do not lift what another reason suppresses", async () => {
    const of1 = { tenantId: of.tenant_id, appId: of.app_id };
    const cause = { of: of1, channel: "sms" as const, address: "+491511234567", at: new Date() };
    await list().suppress([{ ...cause, said: { ...stop, reason: "complaint" } }]);
    await list().lift(cause);
    const entries = db().collection<SuppressionRow>(suppressionCollection.name);
    expect(await entries.findOne({ address: cause.address })).to.include({ reason: "complaint" });
  });
});
