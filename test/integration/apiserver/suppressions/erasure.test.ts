import { expect } from "chai";
import { storedData } from "#core/storage/data.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { useSite } from "../../../support/api/site.ts";
import { aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

let count = 0;
const aMail = () => `p${count++}@example.com`;

describe("the suppression list of an app with people who leave", () => {
  const { site, tenant } = useSite();

  const listOf = (of: typeof tenant) => `/v1/apps/${of.app._id}/suppressions`;
  const add = (body: object, of = tenant) => site.api.call("POST", listOf(of), { token: of.token, body });
  const rows = () => collectionOf<SuppressionRow>(site.db, suppressionCollection);
  const ofApp = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
  const person = (over: object) => ({
    tenantId: tenant.tenant._id,
    appId: tenant.app._id,
    userId: "usr_none",
    keys: new Set<string>(),
    at: new Date(),
    isLast: false,
    isErased: false,
    ...over,
  });

  it("keeps the entries of somebody who is erased, without their address, and finds them again", async () => {
    const user = aUser({ ...ofApp(), external_id: "leaving" });
    await seed(site.db, { users: [user] });
    const [address, other] = [aMail(), aMail()];
    const kept = await add({ channel: "email", address, reason: "complaint", note: "leaving" });
    const whole = await add({ external_id: "leaving" });
    const another = await add({ channel: "email", address: other });
    const keys = new Set([user._id, "external_id:leaving", `email:${address}`]);
    for (let pass = 0; pass < 2; pass++)
      await storedData(site.db, [suppressionCollection]).erasePerson(person({ userId: user._id, keys }));
    for (const { body } of [kept, whole]) {
      const row = await rows().findOne({ _id: body.id });
      expect(row).to.deep.include({ address: null, external_id: null, user_id: null, note: null, people: [] });
      expect(JSON.stringify(row)).to.not.include(address).and.not.include("leaving");
    }
    expect((await rows().findOne({ _id: another.body.id }))?.address).to.equal(other);
    const again = await add({ channel: "email", address, reason: "manual" });
    expect([again.status, again.body.id]).to.deep.equal([200, kept.body.id]);
    expect(again.body).to.deep.include({ address: null, reason: "complaint" });
    const listed = await site.api.call("GET", `${listOf(tenant)}?address=${address}`, { token: tenant.token });
    expect(listed.body.data.map(({ id }) => id)).to.deep.equal([kept.body.id]);
  });

  it("leaves alone what was added for the next person with the same external id", async () => {
    const { body } = await add({ external_id: "taken-over" });
    const at = new Date(Date.now() - 60_000);
    const gone = person({ keys: new Set(["external_id:taken-over"]), at });
    await storedData(site.db, [suppressionCollection]).erasePerson(gone);
    expect((await rows().findOne({ _id: body.id }))?.external_id).to.equal("taken-over");
  });

  it("knows the same address of two apps by two subjects", async () => {
    const of = await seedTenant(site.db);
    const address = aMail();
    const ids = [await add({ channel: "email", address }), await add({ channel: "email", address }, of)];
    const found = await Promise.all(ids.map(({ body }) => rows().findOne({ _id: body.id })));
    expect(found[0]?.subject).to.be.a("string").and.not.equal(found[1]?.subject);
  });
});
