import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import type { Managed } from "#core/storage/settings/managed.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { operatingTenant } from "../../../../apiserver/status/operating-tenant.ts";
import { useSite } from "../../../support/api/site.ts";
import { aTenant } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const log = createLog({ program: "apiserver", level: "fatal" });
const madeBy = (name: string): Managed => ({
  kind: "Tenant",
  namespace: null,
  name,
  uid: `uid of ${name}`,
  policy: "Enforce",
  deletion: "Delete",
  epoch: 1,
});

describe("the tenant that HERALD_OPERATING_TENANT names, at the start", function () {
  const db = testDatabase("operating_tenant");
  const rows = () => db().collection<TenantRow>(tenantCollection.name);
  const start = (name: string) =>
    operatingTenant({ db: db(), name, waitMs: 0, log })
      .start(new AbortController().signal)
      .then(
        () => "started",
        (error: unknown) => String(error),
      );

  it("may be anyone while there is no tenant", async () => {
    expect(await start("platform")).to.equal("started");
  });

  it("is one, by its name or by that of its resource", async () => {
    await rows().insertMany([
      aTenant({ _id: "ten_1", name: "Operations", managed: madeBy("platform") }),
      aTenant({ _id: "ten_2", name: "acme", managed: madeBy("acme") }),
    ]);
    expect(await start("platform")).to.equal("started");
    expect(await start("Operations")).to.equal("started");
    expect(await start("acme")).to.equal("started");
  });

  it("stops the start when there is none of the name", async () => {
    expect(await start("platfrom")).to.include("there is no tenant platfrom");
  });

  it("stops the start when there are two", async () => {
    await rows().insertOne(aTenant({ _id: "ten_3", name: "platform", managed: null }));
    expect(await start("platform")).to.match(/names two tenants: ten_3, ten_1/);
  });
});

describe("the tenant that HERALD_OPERATING_TENANT names by metadata.name", () => {
  const managed = madeBy("platform");
  const { site, tenant } = useSite(
    { HERALD_OPERATING_TENANT: "platform" },
    { tenant: { name: "Operations", managed } },
  );

  it("writes incidents", async () => {
    const list = await site.api.call("GET", "/v1/incidents", { token: tenant.token });
    expect(list.status).to.equal(200);
  });
});
