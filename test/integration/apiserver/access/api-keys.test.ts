import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { type ApiKeyRow, apiKeys } from "#core/storage/api-keys/api-keys.ts";
import type { Caller } from "../../../../apiserver/access/caller.ts";
import { safeChange } from "../../../../apiserver/api-keys/safe-change.ts";
import { writeAsIs } from "../../../../apiserver/settings/write-as-is.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApiKey, seed } from "../../../support/rows/fixtures.ts";
import { announcedMs, until } from "../../../support/until.ts";

describe("keys made over REST", () => {
  const { site, tenant } = useSite({ HERALD_TRUSTED_PROXIES: "1" });

  const call = (
    method: string,
    path = "",
    body?: object,
    more: { token?: string; headers?: Record<string, string> } = {},
  ) => site.api.call(method, `/v1/api-keys${path}`, { token: tenant.token, body, ...more });
  const make = async (over: object = {}) => {
    const { status, body } = await call("POST", "", { name: "backend", scopes: ["notifications:write"], ...over });
    expect(status).to.equal(201);
    return { id: body.id, token: String(body["token"]), body };
  };
  const rows = () => site.db.collection<ApiKeyRow>("api_keys");
  const works = async (token: string, headers = {}) =>
    (await site.api.call("GET", `/v1/notifications?app_id=${tenant.app._id}`, { token, headers })).status;
  const codeOf = async (reply: ReturnType<typeof call>) => {
    const { status, body } = await reply;
    return [status, body.error.code, body.error.details["status"] ?? body.error.details["reason"]];
  };

  it("have a token that is shown once, and is stored nowhere", async () => {
    const { id, token } = await make();
    expect(token).to.match(/^hk_[A-Za-z0-9_-]{43}$/);
    expect(await works(token)).to.equal(200);
    expect((await call("GET", `/${id}`)).body).not.to.have.property("token");
    const all = JSON.stringify(await Promise.all((await site.db.collections()).map((one) => one.find().toArray())));
    expect(all).not.to.contain(token);
  });

  it("are made once for an idempotency key, and the repeat has the same token", async () => {
    const headers = { "Idempotency-Key": "once" };
    const [first, again] = [
      await call("POST", "", { name: "once", scopes: ["admin"] }, { headers }),
      await call("POST", "", { name: "once", scopes: ["admin"] }, { headers }),
    ];
    expect(again.body).to.deep.equal(first.body);
    expect(await rows().countDocuments({ name: "once" })).to.equal(1);
  });

  it("are rotated, and the token before works on for as long as was asked", async () => {
    const { id, token } = await make();
    const rotated = await call("POST", `/${id}/rotate`, {});
    expect([rotated.status, await works(token), await works(String(rotated.body["token"]))]).to.deep.equal([
      200, 200, 200,
    ]);
    const last = await call("POST", `/${id}/rotate`, { overlap_hours: 0 });
    await until(async () => (await works(token)) === 401, announcedMs);
    expect(await works(String(last.body["token"]))).to.equal(200);
  });

  it("end when they are deleted, and are known as revoked", async () => {
    const { id, token } = await make();
    expect(await works(token)).to.equal(200);
    expect((await call("DELETE", `/${id}`)).status).to.equal(200);
    await until(async () => (await works(token)) === 401, announcedMs);
    const reply = await site.api.call("GET", "/v1/usage", { token });
    expect(reply.body.error.details["reason"]).to.equal("revoked");
    expect((await call("GET", `/${id}`)).status).to.equal(404);
  });

  it("cannot give themselves more", async () => {
    const weak = await make();
    const wide = { scopes: ["admin"] };
    expect((await codeOf(call("PATCH", `/${weak.id}`, wide, { token: weak.token })))[1]).to.equal("HS_FORBIDDEN");
    expect((await codeOf(call("POST", "", { name: "x", ...wide }, { token: weak.token })))[1]).to.equal("HS_FORBIDDEN");
    const ofApp = await make({ scopes: ["admin"], app_ids: [tenant.app._id] });
    for (const [method, path, body] of [
      ["PATCH", `/${ofApp.id}`, { app_ids: null }],
      ["POST", "", { name: "x", ...wide }],
      ["GET", "", undefined],
    ] as const)
      expect(await codeOf(call(method, path, body, { token: ofApp.token }))).to.deep.equal([
        403,
        "HS_FORBIDDEN",
        "key_of_apps",
      ]);
    expect(await rows().findOne({ _id: weak.id })).to.deep.include({ scopes: ["notifications:write"] });
  });

  const wrong: [string, object, string][] = [
    ["an end that is over", { expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    ["no network", { allowed_addresses: ["10.0.0.0/33"] }, "allowed_addresses[0]"],
    ["an app of another", { app_ids: ["app_nobody"] }, "app_ids[0]"],
    ["no scope", { scopes: [] }, "scopes"],
  ];
  for (const [what, over, field] of wrong)
    it(`are refused with ${what}`, async () => {
      const { status, body } = await call("POST", "", { name: "x", scopes: ["admin"], ...over });
      expect([status, body.error.details["field"]]).to.deep.equal([400, field]);
    });

  it("may be used from their networks alone, which is said before their rate is counted", async () => {
    const { id, token } = await make({ allowed_addresses: ["203.0.113.0/24", "2001:db8::/32"] });
    const from = (ip: string) => ({ "X-Forwarded-For": ip });
    for (const ip of ["203.0.113.9", "2001:db8::1", "::ffff:203.0.113.9"])
      expect(await works(token, from(ip)), ip).to.equal(200);
    const reply = await site.api.call("GET", "/v1/usage", { token, headers: from("198.51.100.1") });
    expect([reply.status, reply.body.error.code]).to.deep.equal([403, "HS_IP_NOT_ALLOWED"]);
    expect(reply.body.error.details).to.deep.equal({ ip: "198.51.100.1" });
    expect(reply.headers.get("RateLimit-Policy") ?? "").not.to.contain("key");
    await call("PATCH", `/${id}`, { allowed_addresses: null });
    await until(async () => (await works(token, from("198.51.100.1"))) === 200, announcedMs);
  });

  it("say in which hour they were used last", async () => {
    const { id, token } = await make();
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    await works(token);
    const used = async () => Date.parse(String((await call("GET", `/${id}`)).body["last_used_at"]));
    await until(async () => (await used()) >= hour, announcedMs);
    expect((await used()) % 3_600_000).to.equal(0);
  });

  it("of a resource are changed there, but for what it does not name", async () => {
    const managed = {
      kind: "ApiKey",
      namespace: "shop",
      name: "backend",
      uid: "u",
      policy: "Enforce",
      deletion: "Delete",
      epoch: 1,
    } as const;
    const members = ["name", "scopes", "app_ids", "hashes", "expires_at"];
    const { row } = anApiKey({ tenant_id: tenant.tenant._id, managed: { ...managed, members } });
    await seed(site.db, { apiKeys: [row] });
    for (const [body, member] of [
      [{ name: "x" }, "name"],
      [{ expires_at: null }, "expires_at"],
    ] as const) {
      const reply = await call("PATCH", `/${row._id}`, body);
      expect([reply.status, reply.body.error.details["member"]]).to.deep.equal([409, member]);
    }
    expect((await codeOf(call("DELETE", `/${row._id}`)))[1]).to.equal("HS_MANAGED");
    expect((await codeOf(call("POST", `/${row._id}/rotate`, {})))[1]).to.equal("HS_MANAGED");
    expect((await call("PATCH", `/${row._id}`, { allowed_addresses: ["10.0.0.0/8"] })).status).to.equal(200);
  });

  it("that could change keys never all go: neither by themselves, nor two at the same moment", async () => {
    const [a, b] = [await make({ scopes: ["admin"] }), await make({ scopes: ["admin"] })];
    await rows().deleteMany({ _id: { $nin: [a.id, b.id] } });
    expect(await codeOf(call("DELETE", `/${a.id}`, undefined, { token: a.token }))).to.deep.equal([
      409,
      "HS_CONFLICT",
      "own_key",
    ]);
    const both = await Promise.all([
      call("PATCH", `/${a.id}`, { scopes: ["events:write"] }, { token: b.token }),
      call("PATCH", `/${b.id}`, { scopes: ["events:write"] }, { token: a.token }),
    ]);
    const left = await rows().find({ scopes: "admin" }).toArray();
    expect(left.length).to.be.greaterThan(0);
    expect(both.every(({ status }) => status === 200)).to.equal(false);
    await rows().deleteMany({ _id: { $ne: left[0]!._id } });
    const last = left[0]!._id === a.id ? a : b;
    const narrowed = call("PATCH", `/${last.id}`, { app_ids: [tenant.app._id] }, { token: last.token });
    expect(await codeOf(narrowed)).to.deep.equal([409, "HS_CONFLICT", "last_admin_key"]);
    expect((await rows().findOne({ _id: last.id }))?.app_ids).to.equal(null);
  });

  it("are as they were when a process is killed while it takes one of the last two away", async () => {
    const [a, b] = [await make({ scopes: ["admin"] }), await make({ scopes: ["admin"] })];
    await rows().deleteMany({ _id: { $nin: [a.id, b.id] } });
    const before = await rows().find().sort({ _id: 1 }).toArray();
    const killed = new Error("killed");
    const keys = apiKeys(site.db);
    const change = safeChange({
      keys,
      clock: systemClock,
      kept: {
        attempt: () => Promise.reject(killed), // once the other key was written to
        write: (found, attempt) => writeAsIs({ what: "api key", found, reread: keys.owned.reread, attempt }),
      },
    });
    const by = { caller: {} as Caller, ip: "", requestId: "" }; // sound: nothing is audited before the kill
    const revoked = change(by, "revoked", before[0]!, () => ({ revoked_at: new Date() }));
    expect(await revoked.catch((error: unknown) => error)).to.equal(killed);
    const untimed = (row: ApiKeyRow) => ({ ...row, updated_at: null });
    expect((await rows().find().sort({ _id: 1 }).toArray()).map(untimed)).to.deep.equal(before.map(untimed));
    expect((await call("DELETE", `/${a.id}`, undefined, { token: b.token })).status).to.equal(200);
  });
});
