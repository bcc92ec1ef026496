import { expect } from "chai";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SuppressionKeyRow, suppressionKeyCollection } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

let count = 0;
const anEntry = () => ({ external_id: `bound${count++}` });

describe("the bound of a suppression list", () => {
  const { site } = useSharedSite();

  const anApp = async (suppressions: number) => {
    const of = await seedTenant(site.db, { plan: { _id: `bound-${count++}`, suppressions } });
    const call = (method: string, path: string, body?: object) =>
      site.api.call(method, `/v1/apps/${of.app._id}${path}`, { token: of.token, ...(body && { body }) });
    return {
      of,
      call,
      add: (body: object) => call("POST", "/suppressions", body),
      lift: (id: string) => call("DELETE", `/suppressions/${id}`),
      stored: () => collectionOf<SuppressionRow>(site.db, suppressionCollection).countDocuments({ app_id: of.app._id }),
    };
  };

  it("refuses as a whole what would pass it, and takes what is there and what has room again", async () => {
    const { add, lift, stored } = await anApp(3);
    const [first, ...others] = [anEntry(), anEntry(), anEntry()];
    const made = await add(first ?? {});
    expect((await add({ entries: others })).body).to.include({ created: 2 });
    for (const more of [anEntry(), { entries: [first, anEntry(), anEntry()] }]) {
      const { status, body } = await add(more);
      const needed = "entries" in more ? 2 : 1;
      expect([status, body.error.code]).to.deep.equal([429, "HS_QUOTA_EXCEEDED"]);
      expect(body.error.details).to.deep.equal({ metric: "suppressions", limit: 3, used: 3, needed, resets_at: null });
    }
    expect((await add({ ...first, reason: "legal" })).status).to.equal(200);
    expect((await add({ entries: others })).body).to.include({ created: 0, existing: 2 });
    expect(await stored()).to.equal(3);
    const [second] = others;
    const { body } = await add(second ?? {});
    expect((await lift(body.id)).status).to.equal(200);
    expect((await add(anEntry())).status).to.equal(201);
    expect([(await add(anEntry())).status, made.status]).to.deep.equal([429, 201]);
  });

  it("keeps opt-outs beyond it", async () => {
    const { add, call, stored } = await anApp(1);
    await add(anEntry());
    const subscriptions = [{ channel: "email", token: `bound${count++}@example.com`, status: "unsubscribed" }];
    expect((await call("POST", "/users", { external_id: "out", subscriptions })).status).to.equal(201);
    expect(await stored()).to.equal(2);
    expect((await add(anEntry())).body.error.details).to.include({ used: 2, limit: 1 });
  });

  it("is counted anew an hour after it was reached, for what ended by itself", async () => {
    const { of, add } = await anApp(2);
    for (let n = 0; n < 2; n++) await add(anEntry());
    await collectionOf<SuppressionRow>(site.db, suppressionCollection).deleteOne({ app_id: of.app._id });
    expect((await add(anEntry())).status).to.equal(429);
    const keys = collectionOf<SuppressionKeyRow>(site.db, suppressionKeyCollection);
    const hourAgo = new Date(Date.now() - 3_600_001);
    await keys.updateOne({ _id: of.app._id }, { $set: { counted_at: hourAgo } });
    expect((await add(anEntry())).status).to.equal(201);
    expect((await add(anEntry())).status).to.equal(429);
  });
});
