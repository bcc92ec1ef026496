import { expect } from "chai";
import type { PersonalData } from "#core/schema/people/data.ts";
import { userLimits } from "#core/schema/people/user.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aUser, seed } from "../../../support/rows/fixtures.ts";

describe("a user who is written with subscriptions", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const upsert = (body: object) => call("POST", "/users", body);
  const emails = (count: number, name: string) =>
    Array.from({ length: count }, (_, n) => ({ channel: "email", token: `${name}${n}@example.com` }));

  it("stays as they were when they have no room for all their new subscriptions", async () => {
    const user = { external_id: "whole", tags: { step: "first" } };
    await upsert({ ...user, subscriptions: emails(userLimits.subscriptions - 1, "whole") });
    const refused = await upsert({ ...user, tags: { step: "second" }, subscriptions: emails(2, "more") });
    expect([refused.status, refused.body.error.details["status"]]).to.deep.equal([409, "full"]);
    const { body } = await call("GET", "/users/by/external_id/whole");
    expect([body.subscriptions.length, body["tags"]]).to.deep.equal([userLimits.subscriptions - 1, { step: "first" }]);
  });

  it("stays as they were when the rate of one of the subscriptions is used up, however it is spelled", async () => {
    let taken = -1;
    for (let n = 0; n < 100; n++) {
      const spelled = n % 2 === 0 ? "often@example.com" : "often@EXAMPLE.com";
      const subscriptions = [...emails(1, "seldom"), { channel: "email", token: spelled }].slice(n === 0 ? 0 : 1);
      const { status, body } = await upsert({ external_id: "often", tags: { step: String(n) }, subscriptions });
      if (status === 429) {
        expect(body.error.details).to.deep.include({ limit: 1, window_seconds: 1 });
        break;
      }
      taken = n;
    }
    expect(taken).to.be.within(8, 90);
    expect((await call("GET", "/users/by/external_id/often")).body["tags"]).to.deep.equal({ step: String(taken) });
  });
});

describe("the data of a user that is too much for a reply", () => {
  const { site, tenant } = useSharedSite();
  const call = (path: string) => site.api.call("GET", `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token });
  const data = (id: string) => call(`/users/by/external_id/${id}/data`);
  const exports = () => site.db.collection<ExportRow>("exports");

  before(async () => {
    const of = { tenant_id: tenant.app.tenant_id, app_id: tenant.app._id };
    const note = JSON.stringify({ note: "x".repeat(6_000_000) });
    const ends = ["large", "small"].map((external_id) =>
      aUser({ ...of, external_id, alias_keys: [`external_id:${external_id}`] }),
    );
    await seed(site.db, { users: ends });
    const [large = "", small = ""] = ends.map(({ _id }) => _id);
    const event = { ...of, name: "note", person: [], occurred_at: new Date(), received_at: new Date(), source: "api" };
    await site.db.collection<{ _id: string; person: string[]; properties: string }>("events").insertMany([
      { ...event, _id: `evt_1${large}`, person: [large], properties: note },
      { ...event, _id: `evt_2${large}`, person: [large], properties: note },
      { ...event, _id: `evt_1${small}`, person: [small], properties: note },
    ]);
  });

  it("is an export, the same one for as long as it is of use", async () => {
    const { status, body } = await data("large");
    expect([status, body["type"], body.status, body["filters"]]).to.deep.equal([202, "personal_data", "pending", {}]);
    const again = await data("large");
    expect([again.status, again.body.id]).to.deep.equal([202, body.id]);
    expect((await call(`/exports/${body.id}`)).body).to.deep.include({ id: body.id, type: "personal_data" });
    const ended = { status: "failed" as const, person: null, due_at: null };
    await exports().updateOne({ _id: body.id }, { $set: ended });
    expect((await data("large")).body.id).to.not.equal(body.id);
  });

  it("is a reply where it is not", async () => {
    const { status, body } = await data("small");
    expect([status, (body as unknown as PersonalData).events.length]).to.deep.equal([200, 1]);
  });

  it("is not made by asking for exports", async () => {
    const path = `/v1/apps/${tenant.app._id}/exports`;
    const { status, body } = await site.api.call("POST", path, {
      token: tenant.token,
      body: { type: "personal_data" },
    });
    expect([status, body.error.details["field"]]).to.deep.equal([400, "type"]);
  });
});
