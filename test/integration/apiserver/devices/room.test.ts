import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { refusalOf, usePersons } from "../../../support/api/persons.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";

describe("a login to a person with 20 devices", () => {
  const { site, ask, known, anonymous, sign } = usePersons();
  const day = (n: number) => new Date(Date.UTC(2026, 0, n));
  const since = (is: boolean) => (is ? day(1) : null);
  /** The first device is the least recently active; `unproven` says which have not proven anything. */
  const full = async (unproven: (n: number) => boolean) => {
    const first = await known("optional", {}, { last_active_at: day(1), unproven_since: since(unproven(0)) });
    const { tenant_id, app_id, user_id, external_id } = first.subscription;
    const others = Array.from({ length: 19 }, (_, n) =>
      aSubscription({
        tenant_id,
        app_id,
        user_id,
        external_id,
        last_active_at: day(n + 2),
        unproven_since: since(unproven(n + 1)),
      }),
    );
    await seed(site.db, { subscriptions: others });
    return { user: first.user, ids: [first.subscription._id, ...others.map(({ _id }) => _id)] };
  };
  const owned = async (userId: string) =>
    site.db.collection<SubscriptionRow>("subscriptions").distinct("_id", { user_id: userId });

  it("has the device that was least recently active make room for one with a token", async () => {
    const { user, ids } = await full(() => false);
    const device = await anonymous("optional");
    const token = await sign(user.app_id, { external_id: user.external_id });
    const reply = await ask(device, "POST login", { external_id: user.external_id }, token);
    expect([reply.status, reply.body]).to.deep.equal([200, { user_id: user._id, merged: false, claimed: [] }]);
    expect(await owned(user._id)).to.have.members([...ids.slice(1), device.subscription._id]);
    const gone = await site.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: ids[0] ?? "" });
    expect(gone?.external_id, "it is an anonymous user's").to.equal(null);
  });

  it("has one that has proven nothing make room first", async () => {
    const { user, ids } = await full((n) => n === 7);
    const device = await anonymous("optional");
    const token = await sign(user.app_id, { external_id: user.external_id });
    await ask(device, "POST login", { external_id: user.external_id }, token);
    expect(await owned(user._id)).to.have.members([...ids.filter((_, n) => n !== 7), device.subscription._id]);
  });

  it("without a token takes the place of one alone that has none either", async () => {
    const { user, ids } = await full((n) => n === 3);
    const [one, other] = [await anonymous("optional"), await anonymous("optional")];
    expect((await ask(one, "POST login", { external_id: user.external_id })).status).to.equal(200);
    const left = ids.filter((_, n) => n !== 3);
    expect(await owned(user._id)).to.have.members([...left, one.subscription._id]);
    const safe = await full(() => false);
    const refused = await ask(other, "POST login", { external_id: safe.user.external_id });
    expect(refusalOf(refused)).to.deep.equal([401, "missing"]);
    expect(await owned(safe.user._id)).to.have.members(safe.ids);
  });
});
