import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, anApp, hashOf, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { announcedMs, until } from "../../../support/until.ts";

describe("API keys", () => {
  const { site, tenant } = useSharedSite();
  let nats: Nats;

  before(async () => {
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
  });
  after(async () => {
    await nats.close();
  });

  const keys = () => collectionOf<ApiKeyRow>(site.db, apiKeyCollection);
  const list = (token: string, app = tenant.app._id) =>
    site.api.call("GET", `/v1/notifications?app_id=${app}`, { token });
  const key = async (over: Partial<ApiKeyRow> = {}) => {
    const made = anApiKey({ tenant_id: tenant.tenant._id, ...over });
    await seed(site.db, { apiKeys: [made.row] });
    return made;
  };
  const announce = (collection: string, id: string) =>
    announcer({ nats, subjects: subjects(site.name) }).changed(collection, id);

  it("says why a key is refused", async () => {
    const past = new Date(Date.now() - 1000);
    const revoked = await key({ revoked_at: past });
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apiKeys: [{ ...row, hashes: [{ hash: hashOf(token), expires_at: past }] }] });
    const { row: gone, token: ofGone } = anApiKey({ tenant_id: tenant.tenant._id });
    await revokedTokens(site.db).add([gone], past);
    const { row: rotated, token: replaced } = anApiKey({ tenant_id: tenant.tenant._id });
    const hashes = [
      { hash: hashOf(`${replaced}new`), expires_at: null },
      { hash: hashOf(replaced), expires_at: past },
    ];
    await seed(site.db, { apiKeys: [{ ...rotated, hashes }] });
    for (const [given, reason] of [
      ["hs_unknown", "invalid"],
      [revoked.token, "revoked"],
      [ofGone, "revoked"],
      [replaced, "revoked"],
      [token, "expired"],
    ] as const) {
      const reply = await list(given);
      expect([reply.status, reply.body.error.details]).to.deep.equal([401, { reason }]);
    }
  });

  it("takes both tokens of a key while a rotation overlaps", async () => {
    const soon = new Date(Date.now() + 60_000);
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id });
    const hashes = [
      { hash: hashOf(token), expires_at: soon },
      { hash: hashOf(`${token}new`), expires_at: null },
    ];
    await seed(site.db, { apiKeys: [{ ...row, hashes }] });
    expect([(await list(token)).status, (await list(`${token}new`)).status]).to.deep.equal([200, 200]);
  });

  it("works as soon as it is made, also when it was tried before", async () => {
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id });
    expect((await list(token)).status).to.equal(401);
    await seed(site.db, { apiKeys: [row] });
    expect((await list(token)).status).to.equal(200);
  });

  it("stops at once when its revocation is announced", async () => {
    const { row, token } = await key();
    expect((await list(token)).status).to.equal(200);
    await keys().updateOne({ _id: row._id }, { $set: { revoked_at: new Date() } });
    announce("api_keys", row._id);
    await until(async () => (await list(token)).status === 401, announcedMs);
  });

  it("is answered 403 while its organisation is suspended", async () => {
    const other = await seedTenant(site.db);
    expect((await list(other.token, other.app._id)).status).to.equal(200);
    const suspended = { suspended: true, suspended_reason: "unpaid" };
    await collectionOf<TenantRow>(site.db, tenantCollection).updateOne({ _id: other.tenant._id }, { $set: suspended });
    announce("tenants", other.tenant._id);
    await until(async () => (await list(other.token, other.app._id)).status === 403, announcedMs);
    const { body } = await list(other.token, other.app._id);
    expect(body.error).to.deep.include({ code: "HS_ORGANIZATION_SUSPENDED", details: { reason: "unpaid" } });
  });

  it("reaches only the apps it is for, and implies the one when there is one", async () => {
    const second = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [second] });
    const { token } = await key({ app_ids: [tenant.app._id] });
    expect((await list(token, second._id)).status).to.equal(404);
    expect((await site.api.call("GET", "/v1/notifications", { token })).status).to.equal(200);
    const body = { target: { all: true }, contents: { en: "x" } };
    const sent = await site.api.call("POST", "/v1/notifications", { token, body });
    expect(sent.status).to.equal(202);
    const elsewhere = await key({ app_ids: [second._id] });
    expect(
      (await site.api.call("GET", `/v1/notifications/${sent.body.id}`, { token: elsewhere.token })).status,
    ).to.equal(404);
  });

  describe("scopes", () => {
    const write = "notifications:write";
    const read = "analytics:read";
    const cases: [method: string, path: string, scopes: readonly string[]][] = [
      ["GET", "/v1/notifications?app_id=APP", [write, read]],
      ["POST", "/v1/notifications", [write]],
      ["GET", "/v1/notifications/MSG", [write, read]],
      ["DELETE", "/v1/notifications/MSG", [write]],
      ["GET", "/v1/notifications/MSG/deliveries", [write, read]],
      ["POST", "/v1/apps/APP/users", []],
      ["GET", "/v1/apps/APP/users/by/user_id/USR", []],
      ["PATCH", "/v1/apps/APP/users/by/user_id/USR", []],
      ["POST", "/v1/apps/APP/users/by/user_id/USR/subscriptions", []],
      ["GET", "/v1/apps/APP/subscriptions/SUB", []],
      ["PATCH", "/v1/apps/APP/subscriptions/SUB", []],
      ["DELETE", "/v1/apps/APP/subscriptions/SUB", []],
      ["DELETE", "/v1/apps/APP/users/by/user_id/USR", []],
    ];

    it("lets each operation through with its own, refuses it without, and admin does all", async () => {
      const tokens = new Map<string, string>();
      for (const scope of ["admin", write, read, "events:write"] as const)
        tokens.set(scope, (await key({ scopes: [scope] })).token);
      const admin = tokens.get("admin") ?? "";
      const made = await site.api.call("POST", `/v1/apps/${tenant.app._id}/users`, {
        token: admin,
        body: { external_id: "scoped", subscriptions: [{ channel: "email", token: "scoped@example.com" }] },
      });
      const body = { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } };
      const sent = await site.api.call("POST", "/v1/notifications", { token: admin, body });
      const named = (path: string) =>
        path
          .replace("APP", tenant.app._id)
          .replace("MSG", sent.body.id)
          .replace("USR", made.body.id)
          .replace("SUB", made.body.subscriptions[0]?.id ?? "");
      for (const [method, path, scopes] of cases) {
        for (const [scope, token] of tokens) {
          const reply = await site.api.call(method, named(path), {
            token,
            ...(["POST", "PATCH"].includes(method) && { body: { app_id: tenant.app._id } }),
          });
          const isAllowed = scope === "admin" || scopes.includes(scope);
          expect(reply.status === 403, `${method} ${path} with ${scope}: ${reply.status}`).to.equal(!isAllowed);
          if (!isAllowed) expect(reply.body.error.details["granted_scopes"]).to.deep.equal([scope]);
          if (method === "DELETE" && isAllowed) break; // it is gone now
        }
      }
    });
  });
});
