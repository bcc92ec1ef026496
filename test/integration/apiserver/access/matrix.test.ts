import { expect } from "chai";
import { scopes as allScopes } from "#core/schema/vocabulary/scopes.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { operations } from "../../../../apiserver/features.ts";
import type { Api } from "../../../support/api/api.ts";
import { formOf } from "../../../support/api/form.ts";
import { useSite } from "../../../support/api/site.ts";
import { pathTo, type Things, thingsOf } from "../../../support/api/things.ts";
import { anApiKey, seed, seedTenant } from "../../../support/rows/fixtures.ts";

/** What keeps a request from being answered, whatever the operation: generated from the table of operations. */
describe("an operation", () => {
  const { site, tenant } = useSite({ HERALD_OPERATING_TENANT: "operations" }, { tenant: { name: "operations" } });
  let things: Things;
  let other: typeof tenant;
  let slow: typeof tenant;
  let poor: Api;
  const tokens: Record<string, string> = {};

  before(async () => {
    things = await thingsOf(site, tenant);
    other = await seedTenant(site.db, { tenant: { suspended: true, suspended_reason: "unpaid" } });
    const key = async (name: string, over: Parameters<typeof anApiKey>[0]) => {
      const { row, token } = anApiKey(over);
      await seed(site.db, { apiKeys: [row] });
      tokens[name] = token;
    };
    for (const scope of allScopes) await key(scope, { tenant_id: tenant.tenant._id, scopes: [scope] });
    slow = await seedTenant(site.db, { plan: { _id: "slow", api_rps: 1 } });
    await site.db.collection<PlanRow>("plans").updateOne({ _id: tenant.plan._id }, { $set: { features: [] } });
    poor = await site.start({ HERALD_OPERATING_TENANT: "operations" }); // it reads the plan as it is now
  });

  const keyed = operations.filter(({ scopes }) => typeof scopes !== "string");
  type Operation = (typeof keyed)[number];

  const call = ({ method, path, form }: Operation, token: string, over: object = {}, api = site.api) => {
    const isUnnamed = !path.includes("{"); // then the body or the query names the app
    const query = method === "GET" && isUnnamed ? `?app_id=${tenant.app._id}` : "";
    const body = isUnnamed ? { app_id: tenant.app._id } : {};
    const sent = ["POST", "PATCH", "PUT"].includes(method) ? { body } : {};
    const content = form === undefined ? sent : formOf({});
    return api.call(method, pathTo(path, things) + query, { token, ...content, ...over });
  };
  const answer = async (operation: Operation, token: string, over: object = {}) => {
    const { status, body } = await call(operation, token, over);
    return [status, "error" in body ? body.error.code : "answered"];
  };

  for (const operation of keyed) {
    const { method, path, scopes } = operation;
    const name = `${method} ${path}`;

    it(`${name} wants a key, and one that there is`, async () => {
      const bare = await call(operation, "", { headers: { Authorization: "" } });
      expect([bare.status, bare.body.error.details["reason"]]).to.deep.equal([401, "missing"]);
      expect(await answer(operation, "hk_nobody")).to.deep.equal([401, "HS_UNAUTHENTICATED"]);
    });

    it(`${name} is not for a tenant that is suspended`, async () => {
      expect(await answer(operation, other.token)).to.deep.equal([403, "HS_ORGANIZATION_SUSPENDED"]);
    });

    const lacking = allScopes.filter((scope) => scope !== "admin" && !(scopes as readonly string[]).includes(scope));
    it(`${name} wants one of its scopes`, async () => {
      for (const scope of lacking) {
        expect(await answer(operation, tokens[scope] ?? ""), scope).to.deep.equal([403, "HS_FORBIDDEN"]);
      }
    });

    it(`${name} has a rate`, async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => answer(operation, slow.token)));
      expect(answers).to.deep.include([429, "HS_RATE_LIMITED"]);
    });

    if (operation.errors?.includes("HS_PLAN_FEATURE_REQUIRED") !== true) continue;
    it(`${name} wants a plan that includes it`, async () => {
      const { status, body } = await call(operation, tenant.token, {}, poor);
      expect([status, body.error.code]).to.deep.equal([403, "HS_PLAN_FEATURE_REQUIRED"]);
    });
  }
});
