import { expect } from "chai";
import { noUsage } from "#core/domain/usage/figures.ts";
import type { TenantStatus } from "#core/schema/tenants/resource.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import { periodsAt, tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: what tenants use", () => {
  const count = 12;
  let herald: Installation;
  let tenants: Manifest[];
  let ids: string[];
  let operator: Started;

  /** Twelve tenants: the first made 1,111 deliveries, the last twelve times as many. */
  before(async () => {
    herald = await installation();
    const make = manifests(herald);
    tenants = Array.from({ length: count }, (_, n) =>
      make.tenant({ namespaces: [`${herald.id}-${n}`] }, `${herald.id}-t${n}`),
    );
    const first = await herald.start();
    for (const object of [make.plan(), ...tenants]) await herald.apply(object);
    ids = await Promise.all(tenants.map(async (tenant) => (await herald.ready(tenant)).status?.id ?? ""));
    await first.stop();
    const now = new Date();
    const deliveries = (n: number) => ({ ...noUsage(), deliveries: (n + 1) * 1_111 });
    const changes = ids.flatMap((tenantId, n) =>
      periodsAt(now).map((period) => ({ tenantId, period, counts: deliveries(n) })),
    );
    expect(await tenantUsage(herald.db).add(changes)).to.deep.equal([]);
    await webhookBacklogs(herald.db).keep(new Map([[ids[0] ?? "", 345]]), now);
    operator = await herald.start();
  });
  after(() => herald?.close());

  const usageOf = async (tenant: Manifest | undefined): Promise<TenantStatus["usage"]> => {
    const seen = tenant && (await herald.get(tenant));
    return (seen?.status as TenantStatus | undefined)?.usage; // the CRD has its form
  };

  it("is in their status, to two digits", async () => {
    await until(async () => (await Promise.all(tenants.map(usageOf))).every((usage) => usage !== undefined), 30_000);
    const { lastHour, thisMonth, webhookBacklog } = (await usageOf(tenants[0])) ?? expect.fail("none");
    expect([lastHour.deliveries, thisMonth.deliveries, webhookBacklog]).to.deep.equal([1_100, 1_100, 340]);
    const last = await usageOf(tenants[count - 1]);
    expect([last?.lastHour.deliveries, last?.webhookBacklog]).to.deep.equal([13_000, 0]);
  });

  it("is in the metrics of the ten loudest, by name", async () => {
    const { values } = await operator.metrics.tenantUsage.get();
    const named = new Set(values.map(({ labels }) => `${labels.tenant} ${labels.name}`));
    expect([...named].sort()).to.deep.equal(
      ids
        .slice(2)
        .map((id, n) => `${id} ${herald.id}-t${n + 2}`)
        .sort(),
    );
    const { values: all } = await operator.metrics.usage.get();
    expect(all.find(({ labels }) => labels.figure === "deliveries")?.value).to.equal(78 * 1_111);
  });

  it("is not written again by another leader while its digits stay", async () => {
    const versions = () =>
      Promise.all(tenants.map(async (tenant) => (await herald.get(tenant))?.metadata.resourceVersion));
    const before = await versions();
    await operator.stop();
    operator = await herald.start();
    await until(async () => (await operator.metrics.tenantUsage.get()).values.length > 0, 30_000);
    expect(await versions()).to.deep.equal(before);
  });
});
