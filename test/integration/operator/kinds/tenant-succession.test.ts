import { expect } from "chai";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { type Api, startApi } from "../../../support/api/api.ts";
import { until } from "../../../support/until.ts";
import { type Gate, gateTo } from "../support/gate.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";

describe("operator: a namespace after its tenant", () => {
  let herald: Installation;
  let gate: Gate;
  let api: Api;
  let plan: Manifest;

  before(async () => {
    herald = await installation();
    gate = await gateTo(herald.servers.mongodbUrl);
    await herald.start({ mongodbUrl: gate.url, settings: { resyncSeconds: 1 } });
    api = await startApi(
      herald.servers,
      { name: herald.id, database: herald.db.databaseName },
      { HERALD_KEY_RING: herald.settings.keyRing },
    );
    plan = manifests(herald).plan();
    await herald.apply(plan);
    await herald.ready(plan);
  });
  after(async () => {
    await api?.process.kill();
    await herald?.close();
    gate?.close();
  });

  afterEach(() => gate.release());

  /** A namespace of its own, with a tenant. */
  const site = async (name: string) => {
    const make = manifests(herald, `${herald.id}-${name}`);
    const tenantOf = (who: string): Manifest => make.tenant({}, `${herald.id}-${name}-${who}`);
    await herald.apply(make.namespace);
    const tenant = tenantOf("first");
    await herald.apply(tenant);
    const { status } = await herald.ready(tenant);
    return { make, tenant, tenantOf, tenantId: status?.id ?? "" };
  };
  const tenants = () => herald.db.collection<TenantRow>("tenants");
  const isLetIn = async (token: string): Promise<boolean> =>
    (await api.call("GET", "/v1/notifications", { token })).status !== 401;

  it("is opened by no token of the tenant before", async () => {
    const { make, tenant, tenantOf } = await site("sold");
    const key = make.apiKey({ appRefs: undefined });
    const tokenNow = async () => textOf(await herald.get(make.secret("backend-connection", {})), "token");
    await herald.apply(key);
    await herald.ready(key);
    const token = await tokenNow();
    expect(await isLetIn(token)).to.equal(true);
    await herald.remove(tenant);
    await herald.gone(tenant);
    await herald.ready(key, "False", "TenantNotFound");
    const second = tenantOf("second");
    await herald.apply(second);
    await herald.ready(second);
    await herald.ready(key);
    expect(await tokenNow()).not.to.equal(token);
    expect([await isLetIn(token), await isLetIn(await tokenNow())]).to.deep.equal([false, true]);
  });

  const late = [
    { kind: "app", collection: "apps", of: (make: ReturnType<typeof manifests>) => make.app({ channels: {} }) },
    {
      kind: "key",
      collection: "api_keys",
      of: (make: ReturnType<typeof manifests>) => make.apiKey({ appRefs: undefined }),
    },
  ];
  for (const { kind, collection, of } of late) {
    it(`has its ${kind} made anew when it was being made as the tenant went`, async () => {
      const { make, tenantId } = await site(`late-${kind}`);
      const object = of(make);
      gate.block();
      await herald.apply(object);
      await until(async () => gate.blocked().includes("insert"));
      await tenants().updateOne({ _id: tenantId }, { $set: { namespaces: [] } }); // what its removal leaves, and no resync can
      const other = {
        ...(await tenants().findOne({ _id: tenantId }))!,
        _id: `org_other_${kind}`,
        name: `${herald.id} other ${kind}`,
      };
      await tenants().insertOne({ ...other, managed: null, namespaces: [`${herald.id}-late-${kind}`] });
      await gate.release();
      await herald.ready(object);
      const row = await herald.db
        .collection<AppRow | ApiKeyRow>(collection)
        .findOne({ "managed.namespace": `${herald.id}-late-${kind}` });
      expect(row?.tenant_id).to.equal(`org_other_${kind}`);
      await tenants().deleteOne({ _id: `org_other_${kind}` });
    });
  }

  it("keeps its tenant until an app is gone that was made while it went", async () => {
    const { tenant, tenantId } = await site("leaving");
    const apps = herald.db.collection<AppRow>("apps");
    gate.block();
    await herald.remove(tenant);
    await until(async () => gate.blocked().includes("delete"));
    const app = { _id: "app_late", tenant_id: tenantId, name: "late", time_zone: "UTC", channels: {}, managed: null };
    await apps.insertOne(app as unknown as AppRow); // only the tenant of it is looked at
    await gate.release();
    await until(async () => (await herald.conditionOf(tenant, "Ready"))?.reason === "InUse", 25_000);
    await apps.deleteOne({ _id: "app_late" });
    await herald.gone(tenant);
  });

  const holders = [
    { it: "a tenant that is no resource's, of the resource's own name", managed: null },
    { it: "a tenant whose resource is gone", managed: { uid: "gone" } },
  ];
  for (const [index, { it: name, managed }] of holders.entries()) {
    it(`belongs to ${name}`, async () => {
      const { tenantId, make } = await site(`holder-${index}`);
      const namespace = `${herald.id}-taken-${index}`;
      const own = `${herald.id}-claims-${index}`;
      const { _id: _, ...like } = (await tenants().findOne({ _id: tenantId }))!;
      const mark = managed && { ...like.managed!, ...managed, name: own };
      await tenants().insertOne({
        ...like,
        _id: `org_held_${index}`,
        name: own,
        managed: mark,
        namespaces: [namespace],
      });
      const tenant = make.tenant({ displayName: `${own} itself`, namespaces: [namespace] }, own);
      await herald.apply(tenant);
      await herald.ready(tenant, "False", "NamespaceTaken");
      expect((await herald.conditionOf(tenant, "Ready"))?.message).to.contain(`org_held_${index}`);
      await tenants().deleteOne({ _id: `org_held_${index}` });
      await herald.ready(tenant);
      expect((await herald.get(tenant))?.status?.["namespaces"]).to.deep.equal([namespace]);
    });
  }
});
