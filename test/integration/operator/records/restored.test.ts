import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: deletion of what another cluster made", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let started: Started;
  const rows = () => herald.db.collection<AppRow>("apps");
  const messageOf = async (object: Manifest) => (await herald.conditionOf(object, "Ready"))?.message;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
  });
  beforeEach(async () => {
    started = await herald.start();
    for (const object of [make.plan(), make.tenant(), make.iosSecret(), make.app()]) await herald.apply(object);
    await herald.ready(make.app());
  });
  afterEach(() => started.stop());
  after(() => herald.close());

  /** Takes an object away as a new cluster does, on which the records are restored. */
  const lost = async (object: Manifest) => {
    await herald.remove(object);
    await herald.patch(object, { metadata: { finalizers: null } });
    await herald.gone(object);
  };
  const removed = async (...objects: Manifest[]) => {
    for (const object of objects) await herald.remove(object);
    for (const object of objects) await herald.gone(object, 15_000);
  };

  it("removes the record of an App that was restored while its Secret was missing", async () => {
    const id = (await herald.get(make.app()))?.status?.id ?? "";
    await started.stop();
    await lost(make.app());
    await herald.remove(make.iosSecret());
    await herald.apply(make.app({ externalName: id }));
    started = await herald.start();
    await herald.ready(make.app(), "False", "SecretNotFound");
    await removed(make.app());
    expect(await rows().findOne({ _id: id })).to.equal(null);
    await removed(make.tenant());
  });

  it("removes with the Tenant an app whose App is on no cluster", async () => {
    await started.stop();
    await lost(make.app());
    started = await herald.start();
    await removed(make.tenant());
    expect(await rows().countDocuments()).to.equal(0);
    expect(await herald.db.collection("removals").countDocuments()).to.be.greaterThan(0);
  });

  it("leaves an app whose App is on no cluster, and was to leave it", async () => {
    await herald.patch(make.app(), { spec: { deletionPolicy: "Retain" } });
    await until(async () => (await rows().findOne({}))?.managed?.deletion === "Retain");
    await started.stop();
    await lost(make.app());
    started = await herald.start();
    await herald.remove(make.tenant());
    await herald.ready(make.tenant(), "False", "InUse");
    expect(await messageOf(make.tenant())).to.contain("shop (no resource's)");
    expect(await rows().findOne({})).to.have.property("managed", null);
    await rows().deleteMany({});
    await herald.gone(make.tenant(), 15_000);
  });

  it("keeps an app whose App is there, although the operator's list has it not", async () => {
    await started.stop();
    await herald.patch(make.app(), { metadata: { labels: { "herald.dev/test": null } } });
    started = await herald.start();
    await herald.remove(make.tenant());
    await herald.ready(make.tenant(), "False", "InUse");
    expect(await messageOf(make.tenant())).to.contain(`shop (App ${herald.id}-a/shop)`);
    await herald.patch(make.app(), { metadata: { labels: { "herald.dev/test": herald.id } } });
    await removed(make.app(), make.tenant());
  });

  it("leaves an app where it may not look, and ends with deletionPolicy Retain", async () => {
    await started.stop();
    started = await herald.start({ settings: { watchNamespaces: ["default"] } });
    await herald.remove(make.tenant());
    await herald.ready(make.tenant(), "False", "InUse");
    expect(await messageOf(make.tenant())).to.contain("whose namespace is not watched");
    await herald.patch(make.tenant(), { spec: { deletionPolicy: "Retain" } });
    await herald.gone(make.tenant(), 15_000);
    expect(await herald.db.collection<TenantRow>("tenants").findOne({})).to.have.property("managed", null);
    expect(await rows().countDocuments({ managed: { $ne: null } })).to.equal(1);
  });
});
