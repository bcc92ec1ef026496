import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { targets } from "#core/storage/messages/targets.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import { aliasKey } from "#core/storage/people/users.ts";
import { audienceSize } from "../../../../apiserver/audience/audience-size.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("lookups that share a query", () => {
  const db = testDatabase("lookups");

  it("give everyone their own rows and none of another app or tenant, however many ask at once", async () => {
    const apps = ["a", "b"].map((name) => ({ tenant_id: `ten_${name}`, app_id: `app_${name}` }));
    const users = apps.flatMap((app) => Array.from({ length: 60 }, (_, n) => aUser({ ...app, external_id: `u${n}` })));
    const subscriptions = users.map((user) =>
      aSubscription({ tenant_id: user.tenant_id, app_id: user.app_id, user_id: user._id }),
    );
    await seed(db(), { users, subscriptions });
    const { byAlias, probe, probeUsers } = targets(db());
    const asked = users.map(async (user, n) => {
      const of = { tenantId: user.tenant_id, appId: user.app_id };
      const stranger = users[(n + 60) % 120];
      const [found, owned, own, foreign] = await Promise.all([
        byAlias(of, [aliasKey("external_id", user.external_id ?? ""), "external_id:nobody"]),
        probeUsers(of, [user._id]),
        probe(of, [subscriptions[n]?._id ?? ""]),
        probeUsers(of, [stranger?._id ?? ""]),
      ]);
      expect(found.map(({ _id }) => _id)).to.deep.equal([user._id]);
      expect(owned.map(({ _id }) => _id)).to.deep.equal([subscriptions[n]?._id]);
      expect(own.map(({ _id }) => _id)).to.deep.equal([subscriptions[n]?._id]);
      expect(foreign).to.deep.equal([]);
    });
    await Promise.all(asked);
  });

  it("count an audience part by part, of each channel and status its own", async () => {
    const app = { tenant_id: "ten_d", app_id: "app_d" };
    const rows = Array.from({ length: 25 }, (_, n) => aSubscription({ ...app, test_device: n < 12 }));
    const others = [
      aSubscription({ ...app, status: "unsubscribed" }),
      aSubscription({ ...app, channel: "email" }),
      aSubscription({ ...app, app_id: "app_e" }),
    ];
    await seed(db(), { subscriptions: [...rows, ...others] });
    const counts = subscriptionCounts(db());
    const size = audienceSize({
      counts,
      clock: systemClock,
      log: createLog({ program: "tests", level: "fatal" }),
      most: 10,
    });
    const reach = [{ channel: "ios_push" as const, status: "subscribed" as const }];
    const of = { tenantId: "ten_d", appId: "app_d", reach };
    expect(await size({ ...of, testOnly: false, category: null })).to.equal(25);
    expect(await size({ ...of, testOnly: true, category: null })).to.equal(12);
    expect(await counts.billable(["app_d"], 100)).to.equal(27);
    expect(await counts.billable(["app_d"], 20)).to.equal(20);
  });

  it("read many keys at once by pages", async () => {
    const app = { tenant_id: "ten_c", app_id: "app_c" };
    const rows = Array.from({ length: 1_200 }, () => aSubscription(app));
    await seed(db(), { subscriptions: rows });
    const found = await targets(db()).probe(
      { tenantId: "ten_c", appId: "app_c" },
      rows.map(({ _id }) => _id),
    );
    expect(found).to.have.length(1_200);
  });
});
