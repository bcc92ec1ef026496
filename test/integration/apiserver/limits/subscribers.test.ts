import { expect } from "chai";
import { userLimits } from "#core/schema/people/user.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type Installation, installation } from "../../../support/api/api.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("the subscribers of a plan", () => {
  let site: Installation;

  before(async () => {
    site = await installation();
  });
  after(() => site.close());

  /** A user of a tenant, and whoever else it has, under a plan of so many subscribers. */
  const aTenantOf = async (subscribers: number) => {
    const { tenant, app, token } = await seedTenant(site.db, {
      plan: { _id: `of-${crypto.randomUUID()}`, subscribers },
    });
    const of = { tenant_id: tenant._id, app_id: app._id };
    const [user, other] = [aUser(of), aUser(of)];
    await site.db.collection<{ _id: string }>("users").insertMany([user, other]);
    const call = (method: string, path: string, body?: object) =>
      site.api.call(method, `/v1/apps/${app._id}${path}`, { token, ...(body && { body }) });
    const register = (body: Pick<SubscriptionRow, "token">) =>
      call("POST", `/users/by/user_id/${user._id}/subscriptions`, { channel: "ios_push", token: body.token });
    const give = async (over: Partial<SubscriptionRow> = {}): Promise<SubscriptionRow> => {
      const row = aSubscription({ ...of, user_id: user._id, ...over });
      await seed(site.db, { subscriptions: [row] });
      return row;
    };
    return { call, register, give, other };
  };
  const aToken = () => ({ token: crypto.randomUUID().replaceAll("-", "").repeat(2) });

  it("are no more than it says", async () => {
    const { call, give } = await aTenantOf(1);
    await give();
    const body = { external_id: "u", subscriptions: [{ channel: "email", token: "u@example.com" }] };
    const { status, body: reply } = await call("POST", "/users", body);
    expect(status).to.equal(429);
    expect(reply.error.details).to.deep.equal({
      metric: "subscribers",
      limit: 1,
      used: 1,
      needed: 1,
      resets_at: null,
    });
  });

  it("are asked for a user's subscriptions together, before anything is written", async () => {
    const { call, give } = await aTenantOf(2);
    const known = await give();
    const subscriptions = [known, aToken(), aToken()].map(({ token }) => ({ channel: "ios_push", token }));
    const refused = await call("POST", "/users", { external_id: "whole", subscriptions });
    expect(refused.body.error.details).to.deep.include({ metric: "subscribers", limit: 2, used: 1, needed: 2 });
    expect((await call("GET", "/users/by/external_id/whole")).status).to.equal(404);
    const made = await call("POST", "/users", { external_id: "whole", subscriptions: subscriptions.slice(0, 2) });
    expect([made.status, made.body.subscriptions.length]).to.deep.equal([201, 2]);
  });

  it("stay as they are when one more is refused to a user who has no room", async () => {
    const { call, register, give } = await aTenantOf(1);
    const old = await give({ status: "invalid" });
    for (let n = 1; n < userLimits.subscriptions; n++) await give();
    expect((await register(aToken())).status).to.equal(429);
    expect((await call("GET", `/subscriptions/${old._id}`)).status).to.equal(200);
  });

  it("are none more when a known token moves to another user", async () => {
    const { register, give, other } = await aTenantOf(1);
    const known = await give({ user_id: other._id });
    expect((await register(known)).status).to.equal(200);
  });

  it("are one more when an invalid subscription becomes good again", async () => {
    const { call, register, give } = await aTenantOf(1);
    const gone = await give({ status: "invalid" });
    await give();
    const refused = await register(gone);
    const details = { metric: "subscribers", limit: 1, used: 1, needed: 1, resets_at: null };
    expect([refused.status, refused.body.error?.details]).to.deep.equal([429, details]);
    for (const body of [{ status: "subscribed" }, aToken()]) {
      const { status, body: reply } = await call("PATCH", `/subscriptions/${gone._id}`, body);
      expect([status, reply.error?.code]).to.deep.equal([429, "HS_QUOTA_EXCEEDED"]);
    }
    expect((await call("PATCH", `/subscriptions/${gone._id}`, { test_device: true })).status).to.equal(200);
  });

  it("are asked after whose token it is", async () => {
    const { call, give } = await aTenantOf(1);
    const [gone, good] = [await give({ status: "invalid" }), await give()];
    const { status, body } = await call("PATCH", `/subscriptions/${gone._id}`, { token: good.token });
    expect([status, body.error.code]).to.deep.equal([409, "HS_ALREADY_EXISTS"]);
  });
});
