import { expect } from "chai";
import type { AuditEntry } from "#core/schema/audit/audit.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, seed } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

describe("the audit log", () => {
  const { site, tenant } = useSharedSite();
  const call = (method: string, path: string, body?: object, headers = {}) =>
    site.api.call(method, path, { token: tenant.token, body, headers });
  const ofApp = () => `/v1/apps/${tenant.app._id}`;
  const list = async (path: string) => {
    const { status, text } = await call("GET", path);
    expect(status, text).to.equal(200);
    return JSON.parse(text) as { data: AuditEntry[]; next_cursor: string | null };
  };
  const webhook = { url: "https://hooks.example.com/", events: ["delivery.sent"], headers: { "X-Secret": "s3cret" } };
  let webhookId: string;

  before(async () => {
    webhookId = (await call("POST", `${ofApp()}/webhooks`, webhook, { "X-Request-Id": "made-1" })).body.id;
    await call("PATCH", `${ofApp()}/webhooks/${webhookId}`, { batch: true });
    await call("PATCH", `${ofApp()}/settings`, { time_zone: "Asia/Tokyo" });
    await call("POST", "/v1/api-keys", { name: "another", scopes: ["events:write"] });
    await until(async () => (await list("/v1/audit-log")).data.length === 4);
  });

  it("says who changed what, from where and with which request, the newest first", async () => {
    const { data } = await list("/v1/audit-log");
    expect(data.map(({ action, app_id }) => [action, app_id])).to.deep.equal([
      ["api_key.created", null],
      ["settings.updated", tenant.app._id],
      ["webhook.updated", tenant.app._id],
      ["webhook.created", tenant.app._id],
    ]);
    expect(data[1]?.changes).to.deep.equal({ time_zone: { before: "Europe/Berlin", after: "Asia/Tokyo" } });
    expect(data[3]).to.deep.include({
      actor: { type: "api_key", id: tenant.key._id },
      target: { type: "webhook", id: webhookId },
      request_id: "made-1",
    });
    expect(data[3]?.ip).to.match(/127\.0\.0\.1$/);
    expect(JSON.stringify(data))
      .not.to.contain("s3cret")
      .and.not.to.match(/hk_[A-Za-z0-9_-]{43}|whsec_/);
  });

  it("is of an app, or of the organisation for keys of all its apps alone", async () => {
    expect((await list(`${ofApp()}/audit-log`)).data).to.have.length(3);
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, app_ids: [tenant.app._id], scopes: ["admin"] });
    await seed(site.db, { apiKeys: [row] });
    expect((await site.api.call("GET", `${ofApp()}/audit-log`, { token })).status).to.equal(200);
    expect((await site.api.call("GET", "/v1/audit-log", { token })).status).to.equal(403);
  });

  const filters: [string, number][] = [
    ["action=webhook.updated", 1],
    ["target_type=webhook", 2],
    ["target_type=webhook&action=settings.updated", 0],
    ["actor=nobody", 0],
    ["from=2100-01-01T00:00:00Z", 0],
    ["to=2100-01-01T00:00:00Z", 4],
  ];
  for (const [query, count] of filters)
    it(`has ${count} with ${query}`, async () => {
      expect((await list(`/v1/audit-log?${query}`)).data).to.have.length(count);
    });

  it("comes in pages, and says nothing of what was refused, or changed nothing", async () => {
    const first = await list("/v1/audit-log?limit=3&sort=at");
    const second = await list(`/v1/audit-log?limit=3&sort=at&cursor=${first.next_cursor}`);
    expect([first.data.length, second.data.length, second.next_cursor]).to.deep.equal([3, 1, null]);
    await call("PATCH", `${ofApp()}/settings`, { time_zone: "Nowhere/Land" });
    await call("PATCH", `${ofApp()}/settings`, { time_zone: "Asia/Tokyo" });
    await call("PATCH", `${ofApp()}/settings`, { import_huawei_as: "hms_push" });
    await until(async () => (await list("/v1/audit-log")).data.length > 4);
    const { data } = await list("/v1/audit-log");
    expect([data.length, data[0]?.changes]).to.deep.equal([
      5,
      { import_huawei_as: { before: "android_push", after: "hms_push" } },
    ]);
  });
});

describe("the audit log of an app", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "audited", api_rps: 1_000, apps: 5 } });
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const {
      status,
      text,
      body: reply,
    } = await site.api.call(method, path, { token: tenant.token, ...(body && { body }) });
    expect(status, `${method} ${path}: ${text}`).to.be.within(200, 202);
    return reply.id;
  };
  const schema = { type: "object", properties: {} };
  const webhook = { url: "https://hooks.example.com/", events: ["delivery.sent"] };
  const content = { contents: { en: "Hello" } };
  const lake = { type: "s3", bucket: "acme-lake", access_key_id: "A", secret_access_key: "S" };
  const warehouse = { name: "Audited", destination: lake, datasets: ["deliveries"], test: false };
  /** A noun: how it is made, changed and taken away. */
  const nouns: { at: string; body: object; change: object; more?: string }[] = [
    { at: "/webhooks", body: webhook, change: { paused: true }, more: "/rotate-secret" },
    { at: "/segments", body: { name: "Audited", kind: "list" }, change: { name: "Otherwise" } },
    { at: "/templates", body: { name: "Audited", content }, change: { name: "Otherwise" }, more: "/publish" },
    {
      at: "/live-activities/types",
      body: { name: "Audited", content_state_schema: schema },
      change: { description: "x" },
    },
    { at: "/warehouse-exports", body: warehouse, change: { format: "csv", test: false }, more: "/pause" },
  ];
  const organisation = [
    { at: "/v1/api-keys", body: { name: "a", scopes: ["events:write"] }, change: { name: "b" }, more: "/rotate" },
    { at: "/v1/apps", body: { name: "Second" }, change: { name: "Third" } },
  ];

  it("has an entry of each operation that changes what is set up", async () => {
    const ofApp = `/v1/apps/${tenant.app._id}`;
    await ask("PATCH", `${ofApp}/settings`, { throttle_default: 9 });
    for (const { at, body, change, more } of [
      ...nouns.map((one) => ({ ...one, at: ofApp + one.at })),
      ...organisation,
    ]) {
      const one = `${at}/${await ask("POST", at, body)}`;
      await ask("PATCH", one, change);
      if (more !== undefined) await ask("POST", one + more, {});
      await ask("DELETE", one);
    }
    const logged = async () => {
      const found = await site.db.collection("audit_log").find({ tenant_id: tenant.tenant._id }).toArray();
      return found.map(({ action }) => String(action)).sort();
    };
    const expected = [
      "settings.updated",
      ...["webhook", "segment", "template", "live_activity_type", "warehouse_export", "api_key", "app"].flatMap(
        (noun) => ["created", "updated", "deleted"].map((verb) => `${noun}.${verb}`),
      ),
      "webhook.secret_rotated",
      "template.published",
      "warehouse_export.paused",
      "api_key.rotated",
      "api_key.revoked",
    ].sort();
    await until(async () => (await logged()).length === expected.length).catch(() => undefined);
    expect(await logged()).to.deep.equal(expected);
  });
});
