import { expect } from "chai";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Reply } from "../../../support/api/api.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApiKey, anApp, aPlan, seed, seedTenant } from "../../../support/rows/fixtures.ts";

const wanted = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
const refusal = ({ status, body }: Reply) => ({ status, code: body.error.code, details: body.error.details });

describe("a webhook that is refused", () => {
  const { site, tenant } = useSite();
  let base: string;
  let id: string;

  before(async () => {
    base = `/v1/apps/${tenant.app._id}/webhooks`;
    id = (await call("POST", base, wanted)).body.id;
  });

  const call = (method: string, path: string, body?: object, token = tenant.token) =>
    site.api.call(method, path, { token, ...(body !== undefined && { body }) });
  const rows = () => site.db.collection<WebhookRow>("webhooks");

  const eventFilter = (value: unknown, op = "eq") => ({
    filters: { match: "all", conditions: [{ field: "data.x", op, value }] },
  });
  const cases: { it: string; body: Record<string, unknown>; field: string; allowed?: boolean }[] = [
    { it: "plain http", body: { url: "http://hooks.example.com/" }, field: "url" },
    { it: "another scheme", body: { url: "ftp://hooks.example.com/" }, field: "url" },
    { it: "no address", body: { url: "hooks.example.com" }, field: "url" },
    { it: "loopback", body: { url: "https://127.0.0.1/" }, field: "url" },
    { it: "loopback as one number", body: { url: "https://2130706433/" }, field: "url" },
    { it: "loopback in IPv6", body: { url: "https://[::1]/" }, field: "url" },
    { it: "a private network mapped into IPv6", body: { url: "https://[::ffff:10.0.0.1]/" }, field: "url" },
    { it: "the metadata service of clouds", body: { url: "https://169.254.169.254/latest" }, field: "url" },
    { it: "localhost by name", body: { url: "https://localhost/" }, field: "url" },
    { it: "credentials", body: { url: "https://me:pw@hooks.example.com/" }, field: "url" },
    { it: "an unusual port", body: { url: "https://hooks.example.com:25/" }, field: "url" },
    {
      it: "an address of 2,049 characters",
      body: { url: `https://hooks.example.com/${"x".repeat(2_023)}` },
      field: "url",
    },
    { it: "no event", body: { events: [] }, field: "events" },
    { it: "an event twice", body: { events: ["user.created", "user.created"] }, field: "events" },
    { it: "the test event", body: { events: ["webhook.test"] }, field: "events[0]" },
    {
      it: "an audience of messages that are not wanted",
      body: { events: ["event.received"], event_filters: { event_names: ["a"], audience: "bot" } },
      field: "event_filters.audience",
    },
    { it: "event.received without names", body: { events: ["event.received"] }, field: "event_filters.event_names" },
    {
      it: "event.received with an empty list",
      body: { events: ["event.received"], event_filters: { event_names: [] } },
      field: "event_filters.event_names",
    },
    ...[
      ["Host", "x"],
      ["content-type", "text/html"],
      ["Content-Length", "1"],
      ["Service-Signature", "x"],
      ["webhook-id", "x"],
      ["Connection", "close"],
      ["Transfer-Encoding", "chunked"],
      ["Keep-Alive", "1"],
      ["TE", "x"],
      ["Trailer", "x"],
      ["Upgrade", "x"],
      ["Proxy-Authorization", "x"],
      ["Expect", "x"],
      ["User-Agent", "x"],
    ].map(([name = "", value]) => ({
      it: `the reserved header ${name}`,
      body: { headers: { [name]: value } },
      field: `headers.${name}`,
    })),
    { it: "a header in two cases", body: { headers: { "X-A": "1", "x-a": "2" } }, field: "headers.x-a" },
    { it: "a header value with a line break", body: { headers: { "X-A": "1\r\nX-B: 2" } }, field: "headers.X-A" },
    { it: "a header name with a space", body: { headers: { "X A": "1" } }, field: "headers.X A" },
    {
      it: "21 headers",
      body: { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`X-${i}`, "1"])) },
      field: "headers",
    },
    ...["n".repeat(101), "a "].map((name) => ({
      it: `an event's name that none has, of ${name.length} characters`,
      body: { event_filters: { event_names: [name] } },
      field: "event_filters.event_names[0]",
    })),
    { it: "an empty template", body: { body_template: "" }, field: "body_template" },
    { it: "a template that is none", body: { body_template: "{% if %}" }, field: "body_template" },
    { it: "a template of 20,001 characters", body: { body_template: "x".repeat(20_001) }, field: "body_template" },
    { it: "another content type", body: { body_content_type: "text/html" }, field: "body_content_type" },
    {
      it: "filters without conditions",
      body: { filters: { match: "all", conditions: [] } },
      field: "filters.conditions",
    },
    {
      it: "an op that does not fit its value",
      body: eventFilter(true, "gt"),
      field: "filters.conditions[0].op",
      allowed: true,
    },
    { it: "a rate of 0", body: { rate_per_second: 0 }, field: "rate_per_second" },
    { it: "21 at once", body: { max_in_flight: 21 }, field: "max_in_flight" },
    { it: "a timeout of half a second", body: { timeout_ms: 500 }, field: "timeout_ms" },
    { it: "a timeout of a minute", body: { timeout_ms: 60_000 }, field: "timeout_ms" },
    { it: "a member that is not there", body: { colour: "red" }, field: "colour" },
    { it: "a secret of the caller's", body: { secret: "whsec_x" }, field: "secret" },
  ];
  for (const { it: name, body, field, allowed = false } of cases) {
    it(`${name}: 400 naming ${field}, at creation and change`, async () => {
      const before = await rows().find().toArray();
      for (const reply of [
        await call("POST", base, { ...wanted, ...body }),
        await call("PATCH", `${base}/${id}`, body),
      ]) {
        expect(reply.status, reply.text).to.equal(400);
        expect([reply.body.error.code, reply.body.error.details["field"]]).to.deep.equal([
          "HS_VALIDATION_ERROR",
          field,
        ]);
        expect("allowed" in reply.body.error.details).to.equal(allowed);
      }
      expect(await rows().find().toArray()).to.deep.equal(before);
    });
  }

  it("names every problem of one body", async () => {
    const body = { url: "http://x.example.com/", events: ["event.received"], headers: { Host: "x" } };
    const { errors } = (await call("POST", base, body)).body.error.details as { errors: { field: string }[] };
    expect(errors.map(({ field }) => field)).to.deep.equal(["url", "event_filters.event_names", "headers.Host"]);
  });

  it("a status that is none of the owner's: 400", async () => {
    const reply = await call("PATCH", `${base}/${id}`, { status: "failing" });
    expect(reply.body.error.details["field"]).to.equal("status");
    expect((await call("POST", base, { ...wanted, status: "active" })).body.error.details["field"]).to.equal("status");
  });

  describe("by the key or the plan", () => {
    const key = async (over: Partial<ApiKeyRow>): Promise<string> => {
      const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, ...over });
      await seed(site.db, { apiKeys: [row] });
      return token;
    };

    it("needs the scope admin for everything", async () => {
      const token = await key({ scopes: ["notifications:write", "analytics:read", "events:write"] });
      for (const [method, path] of [
        ["GET", ""],
        ["POST", ""],
        ["POST", "/preview"],
        ["GET", `/${id}`],
        ["PATCH", `/${id}`],
        ["DELETE", `/${id}`],
        ["POST", `/${id}/rotate-secret`],
        ["POST", `/${id}/test`],
        ["GET", `/${id}/deliveries`],
        ["POST", `/${id}/recover`],
        ["POST", `/${id}/replay`],
        ["GET", `/${id}/health`],
      ] as const) {
        const body = method === "POST" || method === "PATCH" ? {} : undefined;
        const reply = await call(method, base + path, body, token);
        expect(refusal(reply), `${method} ${path}`).to.deep.include({ status: 403, code: "HS_FORBIDDEN" });
      }
    });

    it("is no thing of a key for another app", async () => {
      const other = anApp({ tenant_id: tenant.tenant._id });
      await seed(site.db, { apps: [other] });
      const token = await key({ app_ids: [other._id] });
      expect((await call("GET", `${base}/${id}`, undefined, token)).status).to.equal(404);
      expect((await call("GET", `/v1/apps/${other._id}/webhooks/${id}`, undefined, token)).status).to.equal(404);
    });

    it("tells the lowest plan that has webhooks, before it looks at the body", async () => {
      const without = await seedTenant(site.db, {
        plan: { _id: "tiny", api_rps: 5, features: [], webhook_endpoints: 0 },
      });
      await seed(site.db, {
        plans: [aPlan({ _id: "middle", api_rps: 50, features: ["webhooks"], webhook_endpoints: 1 })],
      });
      const reply = await call("POST", `/v1/apps/${without.app._id}/webhooks`, {}, without.token);
      expect(refusal(reply)).to.deep.equal({
        status: 403,
        code: "HS_PLAN_FEATURE_REQUIRED",
        details: { feature: "webhooks", plan: "middle" },
      });
      expect((await call("GET", `/v1/apps/${without.app._id}/webhooks`, undefined, without.token)).status).to.equal(
        200,
      );
    });

    it("tells the lowest plan with room for one endpoint more", async () => {
      const small = await seedTenant(site.db, { plan: { _id: "small", api_rps: 40, webhook_endpoints: 2 } });
      await seed(site.db, { plans: [aPlan({ _id: "large", api_rps: 400, webhook_endpoints: 3 })] });
      const path = `/v1/apps/${small.app._id}/webhooks`;
      for (let n = 0; n < 2; n++) expect((await call("POST", path, wanted, small.token)).status).to.equal(201);
      const reply = await call("POST", path, wanted, small.token);
      expect(refusal(reply)).to.deep.equal({
        status: 403,
        code: "HS_PLAN_FEATURE_REQUIRED",
        details: { feature: "webhook_endpoints", plan: "large" },
      });
    });

    it("is never one of more than the plan's, however many are made at once", async () => {
      const three = await seedTenant(site.db, { plan: { _id: "three", api_rps: 500, webhook_endpoints: 3 } });
      const path = `/v1/apps/${three.app._id}/webhooks`;
      const second = await site.start();
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? site.api : second).call("POST", path, { token: three.token, body: wanted }),
        ),
      );
      const accepted = replies.filter(({ status }) => status === 201);
      expect(replies.every(({ status }) => status === 201 || status === 403)).to.equal(true);
      expect(await rows().countDocuments({ app_id: three.app._id }))
        .to.equal(accepted.length)
        .and.to.be.at.most(3);
    }).timeout(120_000); // starts a replica

    it("is never the 101st of an app", async () => {
      const app = anApp({ tenant_id: tenant.tenant._id });
      await seed(site.db, { apps: [app] });
      const sample = (await rows().findOne({ _id: id })) as WebhookRow;
      const many = Array.from({ length: 100 }, (_, n) => ({ ...sample, _id: `whk_many_${n}`, app_id: app._id }));
      await rows().insertMany(many);
      const reply = await call("POST", `/v1/apps/${app._id}/webhooks`, wanted);
      expect(refusal(reply)).to.deep.equal({
        status: 429,
        code: "HS_QUOTA_EXCEEDED",
        details: { metric: "webhook_endpoints", limit: 100, used: 100, needed: 1, resets_at: null },
      });
      expect(await rows().countDocuments({ app_id: app._id })).to.equal(100);
      const wrong = await call("POST", `/v1/apps/${app._id}/webhooks`, { ...wanted, url: "http://10.0.0.1" });
      expect(refusal(wrong), "what is wrong with it is said first").to.deep.include({ code: "HS_VALIDATION_ERROR" });
    });
  });

  describe("by the resource that keeps it", () => {
    const managed = async (policy: "Enforce" | "CreateOnly") => {
      const { body } = await call("POST", base, wanted);
      const at = { kind: "Webhook", namespace: "shop", name: "crm", uid: "u-1" };
      const by = { ...at, policy, deletion: "Delete", epoch: 1 } as const;
      await rows().updateOne({ _id: body.id }, { $set: { managed: by } });
      return body.id;
    };

    it("is not changed, removed or given another secret: 409", async () => {
      const kept = await managed("Enforce");
      const before = await rows().findOne({ _id: kept });
      for (const [method, path, body] of [
        ["PATCH", "", { paused: true }],
        ["DELETE", ""],
        ["POST", "/rotate-secret"],
      ] as const) {
        expect(refusal(await call(method, `${base}/${kept}${path}`, body)), `${method} ${path}`).to.deep.equal({
          status: 409,
          code: "HS_MANAGED",
          details: { kind: "Webhook", namespace: "shop", name: "crm" },
        });
      }
      expect(await rows().findOne({ _id: kept })).to.deep.equal(before);
      expect(await site.db.collection<{ _id: string }>("removals").findOne({ _id: kept })).to.equal(null);
    });

    it("learns what is wrong with a change before who may make it: 400", async () => {
      const { status, body } = await call("PATCH", `${base}/${await managed("Enforce")}`, { url: "http://10.0.0.1" });
      expect([status, body.error.details["field"]]).to.deep.equal([400, "url"]);
    });

    it("is everybody's when the resource only made it", async () => {
      const made = await managed("CreateOnly");
      expect((await call("PATCH", `${base}/${made}`, { paused: true })).status).to.equal(200);
      expect((await call("DELETE", `${base}/${made}`)).status).to.equal(200);
    });
  });

  it("beyond ten new secrets a minute: 429 with the time to wait", async () => {
    const { body } = await call("POST", base, wanted);
    const replies = await untilLimited(() => call("POST", `${base}/${body.id}/rotate-secret`), tenAMinute);
    const { headers, body: reply } = replies.at(-1) ?? expect.fail("nothing was answered");
    const seconds = Number(headers.get("Retry-After"));
    expect(seconds).to.be.within(1, 6);
    expect(reply.error).to.deep.include({ code: "HS_RATE_LIMITED" });
    expect(reply.error.details).to.deep.equal({ retry_after_seconds: seconds, limit: 10, window_seconds: 60 });
    expect((await call("POST", `${base}/${id}/rotate-secret`)).status, "of another endpoint").to.equal(200);
  });
});
