import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { formOf } from "../../../support/api/form.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";

const device = () => ({ channel: "ios_push", token: randomBytes(32).toString("hex") });

/** What the smallest plan there may be refuses, row by row. */
describe("each row of a plan", () => {
  const small = {
    subscribers: 1,
    messages_per_month: 0,
    apps: 1,
    webhook_endpoints: 1,
    retention_days: 30,
    members: 3,
  };
  const { site, tenant } = useSharedSite({ plan: { _id: "small-rows", api_rps: 77, ...small } });
  const poor = useSharedSite({ plan: { _id: "poor-rows", features: [] } });
  const of =
    ({ token, app }: typeof tenant) =>
    (method: string, path: string, body?: object) =>
      site.api.call(method, path.replace("{app}", `/v1/apps/${app._id}`), { token, body });
  const call = (method: string, path: string, body?: object) => of(tenant)(method, path, body);
  const expectRefused = async (reply: ReturnType<typeof call>, status: number, details: object) => {
    const { status: was, body, text } = await reply;
    expect(was, text).to.equal(status);
    expect(body.error.details).to.deep.include(details);
  };

  it("api_rps is the bucket of each key", async () => {
    expect((await call("GET", "/v1/apps")).headers.get("X-RateLimit-Limit")).to.equal("77");
  });

  it("subscribers bounds subscriptions over all apps", async () => {
    const add = (...subscriptions: object[]) => call("POST", "{app}/users", { external_id: "ann", subscriptions });
    await expectRefused(add(device(), device()), 429, { metric: "subscribers", limit: 1, needed: 2 });
    expect((await add(device())).status).to.be.below(300);
  });

  it("messages_per_month bounds deliveries, and replies in conversations, of which nothing is kept then", async () => {
    const details = { metric: "messages_per_month", limit: 0 };
    const message = { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } };
    await expectRefused(call("POST", "/v1/notifications", message), 429, details);
    const { row } = await seedConversation(site.db, { tenant_id: tenant.tenant._id, app_id: tenant.app._id });
    const replies = `{app}/conversations/${row._id}/messages`;
    await expectRefused(call("POST", replies, { text: "Yes" }), 429, details);
    expect((await call("GET", replies)).body.data).to.have.length(1);
  });

  it("apps bounds apps", async () => {
    const { status, body } = await call("POST", "/v1/apps", { name: "second" });
    expect([403, 429]).to.include(status); // 403 where a larger plan of another file is there
    expect(JSON.stringify(body.error.details)).to.include("apps");
  });

  it("webhook_endpoints bounds endpoints of an app", async () => {
    const add = () => call("POST", "{app}/webhooks", { url: "https://hooks.example.com/", events: ["delivery.sent"] });
    expect((await add()).status).to.equal(201);
    const { status, body } = await add();
    expect([403, 429]).to.include(status); // as above
    expect(JSON.stringify(body.error.details)).to.include("webhook_endpoints");
  });

  it("retention_days bounds what an app, and a definition of events, may keep", async () => {
    await expectRefused(call("PATCH", "{app}/settings", { retention_days: 31 }), 400, { field: "retention_days" });
    expect((await call("PATCH", "{app}/settings", { retention_days: 30 })).status).to.equal(200);
    await call("POST", "{app}/events", { events: [{ name: "visit", id: "e-1" }] });
    await expectRefused(call("PATCH", "{app}/events/definitions/visit", { retention_days: 31 }), 400, { limit: 30 });
  });

  it("all of it is shown, members without a count", async () => {
    const { limits } = (await call("GET", "/v1/usage")).body as unknown as { limits: Record<string, unknown> };
    expect(limits).to.deep.include({
      requests_per_second: 77,
      retention_days: 30,
      members: { limit: 3, used: null },
      apps: { limit: 1, used: 1 },
    });
    expect(limits["subscribers"]).to.include({ limit: 1 });
  });

  const live = { name: "match", content_state_schema: { type: "object", properties: {} } };
  const hook = { url: "https://hooks.example.com/", events: ["delivery.sent"] };
  const message = { target: { all: true }, contents: { en: "Hello" } };
  const halves = [
    { name: "a", weight_percent: 50, contents: { en: "A" } },
    { name: "b", weight_percent: 50, contents: { en: "B" } },
  ];
  const cap = { name: "daily", max: 1, per: "day" };
  for (const [feature, method, path, body] of [
    ["live_activities", "POST", "{app}/live-activities/types", live],
    ["webhooks", "POST", "{app}/webhooks", hook],
    ["exports", "POST", "{app}/exports", { type: "users" }],
    ["quiet_hours", "PATCH", "{app}/settings", { quiet_hours: { enabled: true } }],
    ["frequency_caps", "PATCH", "{app}/settings", { frequency_caps: [cap] }],
    ["ab_testing", "PATCH", "{app}/settings", { holdout: { percent: 0 } }],
    ["identity_verification", "PATCH", "{app}/settings", { identity_keys: [] }],
    ["ab_testing", "POST", "/v1/notifications", { ...message, variants: halves }],
    ["optimized_delivery", "POST", "/v1/notifications", { ...message, delayed_option: "optimized" }],
    ["warehouse_export", "POST", "{app}/warehouse-exports", { name: "nightly" }],
  ] as const)
    it(`${feature} is refused where the plan does not include it: ${method} ${path}`, () => {
      const named = path === "/v1/notifications" ? { app_id: poor.tenant.app._id, ...body } : body;
      return expectRefused(of(poor.tenant)(method, path, named), 403, { feature });
    });

  it("says so when a message is only validated", async () => {
    const body = { app_id: poor.tenant.app._id, ...message, variants: halves };
    const reply = await of(poor.tenant)("POST", "/v1/notifications/validate", body);
    const { valid, errors } = reply.body as unknown as { valid: boolean; errors: { code: string }[] };
    expect([valid, errors.map(({ code }) => code)]).to.deep.equal([false, ["HS_PLAN_FEATURE_REQUIRED"]]);
  });

  it("imports is refused where the plan does not include it", async () => {
    const upload = formOf({ type: "csv_users", file: "external_id\nann\n" });
    const path = `/v1/apps/${poor.tenant.app._id}/imports`;
    const { status, body } = await site.api.call("POST", path, { token: poor.tenant.token, ...upload });
    expect([status, body.error.details["feature"]]).to.deep.equal([403, "imports"]);
  });
});
