import { expect } from "chai";
import { hourMs } from "#core/domain/durations.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("a session after an advertisement", () => {
  const db = testDatabase("sessions");
  const now = new Date("2026-11-27T12:00:00Z");
  const hours = (count: number): Date => new Date(now.getTime() + count * hourMs);
  let made = 0;

  const aPerson = async (over: Partial<SubscriptionRow> = {}): Promise<SubscriptionRow> => {
    const token = `+4915100${String(made++).padStart(6, "0")}`;
    const row = aSubscription({ tenant_id: "ten_1", app_id: "app_1", channel: "whatsapp", token, ...over });
    await seed(db(), { subscriptions: [row] });
    return row;
  };
  const endOf = async ({ _id }: SubscriptionRow) =>
    (await db().collection<SubscriptionRow>(subscriptionCollection.name).findOne({ _id }))?.session_expires_at;
  const sent = ({ _id }: SubscriptionRow, at: Date) => ({
    subscription_id: _id,
    channel: "whatsapp" as const,
    sent_at: at,
  });
  const of = ({ tenant_id: tenantId, app_id: appId }: SubscriptionRow) => ({ tenantId, appId });

  it("is prolonged by the first answer, and by nothing that comes late or again", async () => {
    const person = await aPerson();
    const wrote = [{ subscriptionId: person._id, at: now, isFromAd: true }];
    const { begin, move: answered } = sessions(db());
    await begin(of(person), wrote, now);
    await answered([sent(person, hours(2))]);
    expect(await endOf(person)).to.deep.equal(hours(74));
    await begin(of(person), [...wrote, { subscriptionId: person._id, at: hours(3), isFromAd: false }], hours(3));
    await answered([sent(person, hours(5))]);
    expect(await endOf(person)).to.deep.equal(hours(74));
  });

  it("is a day long for whom no advertisement led here", async () => {
    const person = await aPerson();
    await sessions(db()).open(of(person), [{ address: person.token, at: now }], now);
    await sessions(db()).move([sent(person, hours(2))]);
    expect(await endOf(person)).to.deep.equal(hours(24));
  });

  it("ends when Meta says so, unless the person has written since", async () => {
    const refused = ({ _id }: SubscriptionRow) => ({
      subscription_id: _id,
      error_code: "SESSION_CLOSED",
      failed_at: now,
    });
    const byAd = await aPerson({ session_expires_at: hours(70), ad_session_until: hours(70) });
    const later = await aPerson({ session_expires_at: hours(25) });
    await sessions(db()).close([refused(byAd), refused(later)]);
    expect([await endOf(byAd), await endOf(later)]).to.deep.equal([null, hours(25)]);
  });
});
