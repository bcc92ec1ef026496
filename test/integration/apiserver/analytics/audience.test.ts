import { expect } from "chai";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import type { Audience } from "#core/schema/analytics/audience.ts";
import { sessionMonths } from "#core/storage/people/session-months.ts";
import { countReports } from "../../../support/analytics/people-reports.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("analytics of an audience", () => {
  const { site, tenant } = useSharedSite();
  const plan = { _id: "analytics_audience", retention_days: 730, api_rps: 1_000 };
  const dayStart = Math.floor(Date.now() / dayMs) * dayMs;

  it("are who is there by channel and status, and who came and went in each interval", async () => {
    const of = await seedTenant(site.db, { plan });
    const app = { tenant_id: of.app.tenant_id, app_id: of.app._id };
    const at = (daysAgo: number, hours = 12): Date => new Date(dayStart - daysAgo * dayMs + hours * hourMs);
    const people = [3, 3, 2].map((days, n) =>
      aUser({ ...app, created_at: at(days), language: n === 0 ? null : "de", country: "DE" }),
    );
    const of_ = (n: number) => ({ ...app, user_id: people[n]?._id ?? "" });
    const gone = { status: "unsubscribed" as const, unsubscribed_at: at(1) };
    const subscriptions = [
      aSubscription({ ...of_(0), channel: "email", created_at: at(3) }),
      aSubscription({ ...of_(1), channel: "email", created_at: at(3), ...gone }),
      aSubscription({ ...of_(1), channel: "ios_push", created_at: at(2), device: { app_version: "2.1" } }),
      aSubscription({
        ...of_(2),
        channel: "ios_push",
        created_at: at(30),
        status: "invalid",
        invalid_since: at(2),
        resubscribed_at: at(3),
      }),
      aSubscription({
        ...of_(2),
        channel: "web_push",
        created_at: at(30),
        resubscribed_at: at(1),
        invalid_since: null,
      }),
    ];
    const merged = aUser(app);
    Object.assign(people[1] ?? {}, { merged_keys: [`user_id:${merged._id}`, "crm:7"] });
    await seed(site.db, { users: people, subscriptions });
    await sessionMonths(site.db).add(merged, at(3, 15), new Date()); // on a day on which they had one by themselves, too
    for (const [n, days] of [0, 0, 1].entries())
      await sessionMonths(site.db).add({ ...app, _id: people[days]?._id ?? "" }, at(3 - (n % 2)), new Date());
    const range = `timezone=UTC&from=${at(3, 0).toISOString()}&to=${at(0, 0).toISOString()}`;
    const queries = ["group_by=language", "group_by=app_version&interval=week"];
    const ask = async (query: string) => {
      const path = `/v1/apps/${of.app._id}/analytics/audience?${range}&${query}`;
      return (await site.api.call("GET", path, { token: of.token })).body as unknown as Audience;
    };
    const [first] = await Promise.all(queries.map(ask));
    expect(first).to.deep.include({ as_of: null, current: null, groups: null, series: null, progress: { people: 0 } });
    await countReports(site.db, of.app._id);
    const byLanguage = await ask(queries[0] ?? "");
    expect(byLanguage.current).to.deep.include({
      users: 3,
      subscriptions: 5,
      subscribed: 3,
      unsubscribed: 1,
      invalid: 1,
    });
    const none = { subscriptions: 0, subscribed: 0, unsubscribed: 0, invalid: 0 };
    expect(byLanguage.current?.by_channel).to.deep.include.members([
      { channel: "email", subscriptions: 2, subscribed: 1, unsubscribed: 1, invalid: 0 },
      { channel: "ios_push", subscriptions: 2, subscribed: 1, unsubscribed: 0, invalid: 1 },
      { channel: "sms", ...none },
    ]);
    expect(byLanguage.groups).to.deep.equal([
      { key: "de", count: 2 },
      { key: "none", count: 1 },
    ]);
    const came = { new_users: 0, new_subscriptions: 0, reactivated: 0, active_users: 0 };
    const quiet = { ...came, unsubscribed: 0, invalidated: 0, net: 0 };
    expect(byLanguage.series).to.deep.equal([
      { ...quiet, at: at(3, 0).toISOString(), new_users: 2, new_subscriptions: 2, net: 2, active_users: 2 },
      { ...quiet, at: at(2, 0).toISOString(), new_users: 1, new_subscriptions: 1, invalidated: 1, active_users: 1 },
      { ...quiet, at: at(1, 0).toISOString(), unsubscribed: 1, reactivated: 1, net: -1 },
    ]);
    const byVersion = await ask(queries[1] ?? "");
    expect(byVersion.groups).to.deep.equal([
      { key: "none", count: 2 },
      { key: "2.1", count: 1 },
    ]);
    expect(byVersion.series?.reduce((sum, one) => sum + one.new_users, 0)).to.equal(3);
  });

  it("is in the overview as it was counted last, with who was active in a day, a week and 30 days", async () => {
    const { app, token } = await seedTenant(site.db, { plan });
    const of = { tenant_id: app.tenant_id, app_id: app._id };
    const users = [1, 2, 3, 4].map(() => aUser(of));
    const subscriptions = users.map(({ _id }) => aSubscription({ ...of, user_id: _id }));
    await seed(site.db, { users, subscriptions });
    const now = new Date();
    for (const [n, hours] of [1, 30, 200, 2_000].entries())
      await sessionMonths(site.db).add(
        { ...of, _id: users[n]?._id ?? "" },
        new Date(now.getTime() - hours * hourMs),
        now,
      );
    const overview = async (query: string) =>
      (await site.api.call("GET", `/v1/apps/${app._id}/analytics/overview${query}`, { token })).body;
    expect(await overview("")).to.deep.include({ active_subscriptions: null, active_users: null });
    await countReports(site.db, app._id);
    const counted = { active_subscriptions: 4, active_users: { dau: 1, wau: 2, mau: 3 } };
    expect(await overview("?timezone=Asia/Tokyo")).to.deep.include(counted);
  });

  it("is that of the app alone, and what cannot be asked is refused by its member", async () => {
    const { app } = await seedTenant(site.db, { plan });
    const path = `/v1/apps/${app._id}/analytics/audience`;
    expect((await site.api.call("GET", path, { token: tenant.token })).status).to.equal(404);
    const other = await seedTenant(site.db, { plan });
    for (const [query, field] of [
      ["interval=hour", "interval"],
      ["group_by=city", "group_by"],
      ["channel=email", "channel"],
      ["timezone=Mars/Olympus", "timezone"],
    ] as const) {
      const own = `/v1/apps/${other.app._id}/analytics/audience?${query}`;
      const { status, body } = await site.api.call("GET", own, { token: other.token });
      const { error } = body as { error?: { details: Record<string, unknown> } };
      expect([status, error?.details["field"]], query).to.deep.equal([400, field]);
    }
  });
});
