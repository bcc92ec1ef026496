import { expect } from "chai";
import { definitionLimits } from "#core/schema/events/definition.ts";
import {
  type EventDefinitionRow,
  eventDefinitionCollection,
  eventDefinitions,
} from "#core/storage/events/definitions.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { useSite } from "../../../support/api/site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

describe("event definitions over REST", () => {
  const { site, tenant } = useSite({ HERALD_LOG_LEVEL: "warn" }, { plan: { _id: "short", retention_days: 30 } });
  const definitions = () => eventDefinitions(site.db);
  const rows = () => collectionOf<EventDefinitionRow>(site.db, eventDefinitionCollection);
  const define = (names: readonly string[], { app } = tenant) =>
    definitions().define({ tenantId: app.tenant_id, appId: app._id }, names, new Date());
  const call = (
    method: string,
    path: string,
    { app, token, body }: { app?: string; token?: string; body?: object } = {},
  ) =>
    site.api.call(method, `/v1/apps/${app ?? tenant.app._id}/events/definitions${path}`, {
      token: token ?? tenant.token,
      ...(body !== undefined && { body }),
    });

  const scopes = [
    { scope: "analytics:read", list: 200, detail: 200, change: 403 },
    { scope: "events:write", list: 403, detail: 403, change: 200 },
    { scope: "notifications:write", list: 403, detail: 403, change: 403 },
  ] as const;
  for (const { scope, list, detail, change } of scopes) {
    it(`are as open to ${scope} as the reference says`, async () => {
      const other = await seedTenant(site.db, { key: { scopes: [scope] } });
      await define(["scoped"], other);
      const by = { app: other.app._id, token: other.token };
      const statuses = [
        await call("GET", "", by),
        await call("GET", "/scoped", by),
        await call("PATCH", "/scoped", { ...by, body: { display_name: "Scoped" } }),
      ].map(({ status }) => status);
      expect(statuses).to.deep.equal([list, detail, change]);
    });
  }

  it("keep events for no longer than the plan, and say how long that is", async () => {
    await define(["kept"]);
    const { status, body } = await call("PATCH", "/kept", { body: { retention_days: 31 } });
    expect([status, body.error.details["field"], body.error.details["limit"]]).to.deep.equal([
      400,
      "retention_days",
      30,
    ]);
    expect((await call("PATCH", "/kept", { body: { retention_days: 30 } })).body["retention_days"]).to.equal(30);
    expect((await call("PATCH", "/kept", { body: { retention_days: null } })).body["retention_days"]).to.equal(null);
  });

  it("lose no change of two that are made at the same time", async () => {
    await define(["both"]);
    const bodies = [{ display_name: "Both" }, { is_conversion: true }, { outcome_unique: true }, { retention_days: 7 }];
    const replies = await Promise.all(bodies.map((body) => call("PATCH", "/both", { body })));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect((await call("GET", "/both")).body).to.include(Object.assign({}, ...bodies));
  });

  it("take no cursor of another app's list", async () => {
    const other = await seedTenant(site.db);
    await define(["a", "b", "c"], other);
    const { body } = await call("GET", "?limit=2", { app: other.app._id, token: other.token });
    expect([body.data.map(({ name }) => name), body["has_more"]]).to.deep.equal([["a", "b"], true]);
    expect((await call("GET", `?cursor=${String(body["next_cursor"])}`)).status).to.equal(400);
  });

  it("are never more than a thousand of an app, whoever defines at the same time", async () => {
    const other = await seedTenant(site.db);
    const half = (letter: string) => Array.from({ length: 600 }, (_, n) => `${letter}-${n}`);
    await Promise.all(["a", "b", "c"].map((letter) => define(half(letter), other)));
    const of = { tenantId: other.app.tenant_id, appId: other.app._id };
    const count = () => rows().countDocuments({ app_id: of.appId });
    expect(await count()).to.be.at.most(definitionLimits.definitions);
    await define([...half("d"), ...half("e")], other);
    expect(await count()).to.equal(definitionLimits.definitions);
    const defined = await define([...half("a"), ...half("e")], other);
    expect(defined.length).to.equal(await rows().countDocuments({ app_id: of.appId, name: /^[ae]-/ }));
  });
});
