import { expect } from "chai";
import type { App } from "#core/schema/apps/app.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { storedData } from "#core/storage/data.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { RemovalRow } from "#core/storage/work/removals.ts";
import type { Call } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, aPlan, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("apps made over REST", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "three-apps", apps: 3 } });
  const plans = () => site.db.collection<PlanRow>("plans");
  const roomier = aPlan({ _id: "four-apps", apps: 4, api_rps: 1 });
  afterEach(() => plans().deleteOne({ _id: roomier._id }));
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
    await seed(site.db, { plans: [roomier] }); // plans of other files have more room than any here
    const both = await Promise.all([call("POST", "", { name: "third" }), call("POST", "", { name: "fourth" })]);
    expect(both.filter(({ status }) => status === 201).length).to.be.at.most(1);
    const isFull = (await rows().countDocuments({ tenant_id: tenant.tenant._id })) === 3; // both may have been taken back
    expect((await call("POST", "", { name: "fifth" })).status).to.equal(isFull ? 403 : 201);
    for (const refused of [await call("POST", "", { name: "sixth" }), both.find(({ status }) => status !== 201)]) {
      expect([refused?.status, refused?.body.error.code]).to.deep.equal([403, "HS_PLAN_FEATURE_REQUIRED"]);
      expect(refused?.body.error.details).to.deep.include({ feature: "apps", plan: roomier._id });
    }
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

  it("are removed with all that is theirs, and show how far that has come", async () => {
    await rows().deleteMany({ tenant_id: tenant.tenant._id, _id: { $ne: tenant.app._id } });
    const { id } = (await call("POST", "", { name: "to go" })).body;
    await call("POST", `/${id}/users`, { external_id: "ann" });
    await call("POST", `/${id}/webhooks`, { url: "https://hooks.example.com/", events: ["delivery.sent"] });
    const { status, body } = await call("DELETE", `/${id}`);
    expect([status, body["name"], (body["removal"] as App["removal"])?.removed]).to.deep.equal([202, "to go", 0]);
    expect((await call("GET", `/${id}`)).body).to.deep.equal(body);
    expect((await call("DELETE", `/${id}`)).status).to.equal(202);
    expect((await call("GET", "")).text).not.to.include(id);
    expect((await call("POST", `/${id}/users`, { external_id: "bob" })).status).to.equal(404);
    const removal = await site.db.collection<RemovalRow>("removals").findOne({ _id: id });
    expect(removal).to.include({ kind: "app", tenant_id: tenant.tenant._id });
    await storedData(site.db).removeApp(id, new Date());
    for (const name of ["users", "webhooks"])
      expect(await site.db.collection(name).countDocuments({ app_id: id }), name).to.equal(0);
  });

  it("are another's affair to nobody else, also while they go, and no key of one app takes it away", async () => {
    const { id } = (await call("POST", "", { name: "to go, too" })).body;
    const own = anApiKey({ tenant_id: tenant.tenant._id, app_ids: [id], scopes: ["admin"] });
    const other = await seedTenant(site.db, { plan: { _id: `other-${id.toLowerCase()}` } });
    await seed(site.db, { apiKeys: [own.row] });
    expect((await call("DELETE", `/${id}`, undefined, { token: own.token })).status).to.equal(403);
    expect((await call("DELETE", `/${id}`, undefined, { token: other.token })).status).to.equal(404);
    expect((await call("DELETE", `/${id}`)).status).to.equal(202);
    expect((await call("GET", `/${id}`, undefined, { token: own.token })).status).to.equal(200);
    expect((await call("GET", `/${id}`, undefined, { token: other.token })).status).to.equal(404);
  });

  it("stay where a resource keeps them, and nothing of them goes", async () => {
    const kept = await call("DELETE", `/${tenant.app._id}`); // the resource of the test above
    expect([kept.status, kept.body.error.code]).to.deep.equal([409, "HS_MANAGED"]);
    expect(await site.db.collection<RemovalRow>("removals").countDocuments({ _id: tenant.app._id })).to.equal(0);
  });
});
