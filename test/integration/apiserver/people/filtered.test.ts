import { expect } from "chai";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

describe("users", () => {
  const { site } = useSharedSite();

  it("are filtered by what is said of their place, what they spent and how long they were there", async () => {
    const own = await seedTenant(site.db);
    const ask = (method: string, path: string, body: object) =>
      site.api.call(method, `/v1/apps/${own.app._id}${path}`, { token: own.token, body });
    const said = { location: { lat: 0.01, long: -179.99 }, amount_spent: 12.5, session_time: 60 };
    const made = await ask("POST", "/users", { external_id: "near", ...said });
    expect([made.status, made.body], made.text).to.deep.equal([201, { ...made.body, ...said }]);
    const far = await ask("POST", "/users", { external_id: "far", location: { lat: 0, long: 170 } });
    expect(far.body).to.deep.include({ amount_spent: null, session_time: null });
    const countOf = async (...all: object[]): Promise<unknown> =>
      (await ask("POST", "/segments/preview", { filter: { all } })).body["users"];
    const within = { field: "location", op: "within_radius", value: { lat: 0, long: 179.99, radius_m: 10_000 } };
    expect(await countOf(within)).to.equal(1);
    expect(await countOf({ field: "amount_spent", op: "gt", value: 10 })).to.equal(1);
    expect(await countOf({ field: "session_time", op: "not_exists" })).to.equal(1);
    const cleared = await ask("PATCH", "/users/by/external_id/near", { location: null });
    expect(cleared.body).to.deep.include({ location: null, amount_spent: 12.5 });
    const again = { ...within, value: { ...within.value, radius_m: 10_001 } }; // a count is kept for a minute
    expect(await countOf(again)).to.equal(0);
    const refused = await ask("PATCH", "/users/by/external_id/near", { location: { lat: 91, long: 0 } });
    expect([refused.status, refused.body.error.details["field"]]).to.deep.equal([400, "location.lat"]);
    const wide = { ...within, value: { lat: 0, long: 0, radius_m: 500_001 } };
    const wrong = await ask("POST", "/segments/preview", { filter: { all: [wide] } });
    expect([wrong.status, wrong.body.error.details["field"]]).to.deep.equal([400, "filter.all[0].value.radius_m"]);
  });
});
