import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Call } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApiKey, seed } from "../../../support/rows/fixtures.ts";

describe("apps made over REST", function () {
  this.timeout(60_000);
  const { site, tenant } = useSite({}, { plan: { apps: 3 } });
  const call = (method: string, path = "", body?: object, more: Call = {}) =>
    site.api.call(method, `/v1/apps${path}`, { token: tenant.token, body, ...more });
  const rows = () => site.db.collection<AppRow>("apps");

  it("are made once for an idempotency key, and can be used at once", async () => {
    const headers = { "Idempotency-Key": "app-1" };
    const [first, again] = [
      await call("POST", "", { name: "second", time_zone: "Asia/Tokyo" }, { headers }),
      await call("POST", "", { name: "second", time_zone: "Asia/Tokyo" }, { headers }),
    ];
    expect([first.status, again.body.id]).to.deep.equal([201, first.body.id]);
    expect(first.body).to.include({ name: "second", time_zone: "Asia/Tokyo", managed: null });
    expect((await call("POST", `/${first.body.id}/users`, { external_id: "ann" })).status).to.be.below(300);
    expect((await call("GET", `/${first.body.id}`)).body).to.deep.equal(first.body);
    expect((await call("GET")).body.data.map(({ id }) => id)).to.include.members([tenant.app._id, first.body.id]);
  });

  it("have a name that no other app of the organisation has, and a time zone that there is", async () => {
    const other = await call("POST", "", { name: tenant.app.name });
    expect([other.status, other.body.error.code]).to.deep.equal([409, "HS_ALREADY_EXISTS"]);
    expect(other.body.error.details).to.include({ field: "name", id: tenant.app._id });
    const wrong = await call("POST", "", { name: "x", time_zone: "Europe/Atlantis" });
    expect([wrong.status, wrong.body.error.details["field"]]).to.deep.equal([400, "time_zone"]);
    const renamed = await call("PATCH", `/${tenant.app._id}`, { name: "second" });
    expect([renamed.status, renamed.body.error.code]).to.deep.equal([409, "HS_ALREADY_EXISTS"]);
  });

  it("are as many as the plan says, also when two are made at once", async () => {
    const both = await Promise.all([call("POST", "", { name: "third" }), call("POST", "", { name: "fourth" })]);
    expect(both.filter(({ status }) => status === 201).length).to.be.at.most(1);
    const isFull = (await rows().countDocuments({ tenant_id: tenant.tenant._id })) === 3; // both may have been taken back
    expect((await call("POST", "", { name: "fifth" })).status).to.equal(isFull ? 429 : 201);
    expect((await call("POST", "", { name: "sixth" })).status).to.equal(429);
    const refused = both.find(({ status }) => status !== 201);
    expect(refused?.body.error.details).to.deep.include({ metric: "apps", limit: 3 });
  });

  it("are made by keys of all apps alone, and renamed where no resource has named them", async () => {
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, app_ids: [tenant.app._id], scopes: ["admin"] });
    await seed(site.db, { apiKeys: [row] });
    expect((await call("POST", "", { name: "x" }, { token })).status).to.equal(403);
    expect((await call("GET", "", undefined, { token })).body.data.map(({ id }) => id)).to.deep.equal([tenant.app._id]);
    expect((await call("PATCH", `/${tenant.app._id}`, { name: "renamed" })).body["name"]).to.equal("renamed");
    const managed = { kind: "App", namespace: "a", name: "shop", uid: "u", deletion: "Delete", epoch: 1 } as const;
    await rows().updateOne(
      { _id: tenant.app._id },
      { $set: { managed: { ...managed, policy: "Enforce", members: ["name"] }, updated_at: new Date() } },
    );
    const kept = await call("PATCH", `/${tenant.app._id}`, { name: "again" });
    expect([kept.status, kept.body.error.details["member"]]).to.deep.equal([409, "name"]);
    expect((await call("PATCH", `/${tenant.app._id}`, { time_zone: "Europe/Rome" })).status).to.equal(200);
  });
});
