import { expect } from "chai";
import { type SessionMonthRow, sessionMonthCollection } from "#core/storage/people/session-months.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { SeededDevice } from "../../../support/api/devices.ts";
import { refusalOf, usePersons } from "../../../support/api/persons.ts";

describe("sessions that devices tell of", () => {
  const { site, ask, anonymous, known, stored } = usePersons();
  const report = (device: SeededDevice, body: object) => ask(device, "POST sessions", body);
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  const lastActive = async ({ subscription: { _id } }: SeededDevice) =>
    (await site.db.collection<SubscriptionRow>("subscriptions").findOne({ _id }))?.last_active_at;

  it("count for their person, to the minute of when they were there", async () => {
    const long = new Date("2026-01-01T00:00:00Z");
    const device = await anonymous("optional", { last_active_at: long });
    await site.db
      .collection<{ _id: string }>("users")
      .updateOne({ _id: device.user._id }, { $set: { last_active_at: long, session_time: null } });
    const started_at = ago(300);
    const told = await report(device, { started_at, duration_s: 90 });
    expect([told.status, told.body]).to.deep.equal([202, { counted: "new" }]);
    const seen = new Date(Math.floor((Date.parse(started_at) + 90_000) / 60_000) * 60_000);
    const user = await stored(device);
    expect(user).to.deep.include({ session_count: 1, session_time: 90, last_active_at: seen });
    expect(user.changed, "no event").to.deep.equal([]);
    expect(await lastActive(device)).to.deep.equal(seen);
    const months = site.db.collection<SessionMonthRow>(sessionMonthCollection.name);
    const kept = await months.find({ user_id: device.user._id }).toArray();
    const begun = kept.flatMap(({ month, quarters }) => quarters.map((n) => month.getTime() + n * 900_000));
    expect(begun).to.deep.equal([Math.floor(Date.parse(started_at) / 900_000) * 900_000]);
  });

  it("count once, and longer when they are told again as they have grown", async () => {
    const started_at = ago(600);
    const [first, second] = [await known("off"), await known("off")];
    await report(first, { started_at, duration_s: 10 });
    const row = await stored(first);
    // as if a minute had passed: another device of the same session's memory, whose rate is its own
    const { sessions = [] } = row;
    const remembered = sessions.map((one) => ({ ...one, of: second.subscription._id }));
    await site.db
      .collection<{ _id: string }>("users")
      .updateOne({ _id: second.user._id }, { $set: { sessions: remembered, session_count: 1, session_time: 10 } });
    expect((await report(second, { started_at, duration_s: 25 })).body).to.deep.equal({ counted: "longer" });
    expect(await stored(second)).to.deep.include({ session_count: 1, session_time: 25 });
    const third = await known("off");
    const same = remembered.map((one) => ({ ...one, of: third.subscription._id }));
    await site.db
      .collection<{ _id: string }>("users")
      .updateOne({ _id: third.user._id }, { $set: { sessions: same, session_count: 1, session_time: 10 } });
    expect((await report(third, { started_at, duration_s: 10 })).body).to.deep.equal({ counted: "known" });
    expect(await stored(third)).to.deep.include({ session_count: 1, session_time: 10 });
  });

  it("reach the store once a minute of a device", async () => {
    const device = await anonymous("off");
    await report(device, { started_at: ago(60), duration_s: 5 });
    const again = await report(device, { started_at: ago(30), duration_s: 5 });
    expect([again.status, again.body.error?.details?.["metric"] ?? again.body.error?.code]).to.deep.equal([
      429,
      "HS_RATE_LIMITED",
    ]);
    expect(Number(again.headers.get("Retry-After"))).to.be.within(1, 60);
    expect((await stored(device)).session_count).to.equal(1);
  });

  it("are of now at the latest, and refused when they are too old, too long, or of another device", async () => {
    const [device, other] = [await anonymous("off"), await anonymous("off")];
    const refused = async (body: object) => refusalOf(await report(device, body));
    expect(await refused({ started_at: ago(31 * 86_400) })).to.deep.equal([400, "started_at"]);
    expect(await refused({ started_at: "yesterday" })).to.deep.equal([400, "started_at"]);
    expect(await refused({ started_at: ago(1), duration_s: 86_401 })).to.deep.equal([400, "duration_s"]);
    expect(await refused({ started_at: ago(1), duration_s: -1 })).to.deep.equal([400, "duration_s"]);
    expect((await report(device, { started_at: ago(1), subscription_id: other.subscription._id })).status).to.equal(
      404,
    );
    expect((await stored(device)).session_count).to.equal(undefined);
    const ahead = await report(device, { started_at: ago(-86_400), duration_s: 5 });
    expect(ahead.body).to.deep.equal({ counted: "new" });
    expect((await stored(device)).last_active_at.getTime()).to.be.at.most(Date.now());
  });
});
