import { newId } from "#core/domain/ids.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import type { WarehouseRunRow } from "#core/storage/warehouse/runs.ts";
import { aWarehouseExport, s3Destination } from "../../../support/rows/warehouse.ts";
import { refusal, storeProxy } from "../../../support/warehouse/store-proxy.ts";
import { nowhere, type Planted, withinMs } from "./planted.ts";

const hourMs = 3_600_000;

/** What befalls exports to the stores of tenants. */
export const warehouseCases = (at: () => Planted): void => {
  it("no store of a tenant takes files", async () => {
    const { sending, fires, shows } = at();
    const { tenantId, app } = sending.system;
    const to = { ...s3Destination(`http://${nowhere}`), endpoint: `http://${nowhere}` };
    await using planted = new AsyncDisposableStack();
    planted.defer(() => removeExports(at()));
    const all = Array.from({ length: 6 }, () => aWarehouseExport(to, { tenant_id: tenantId, app_id: app._id }));
    await exportsOf(at()).insertMany(all);
    await fires(["HeraldWarehouseStoresFail"]);
    await shows("HeraldWarehouseStoresFail", "warehouse_runs", "NETWORK");
  });

  it("the store of a tenant takes no messages, for the sixth time", async () => {
    const { herald, sending, devices, sendTo, fires, shows } = at();
    const { db, tenantId, app, ended } = sending.system;
    await ended(String((await sendTo(await devices(1))).body["id"]), withinMs);
    await using planted = new AsyncDisposableStack();
    const proxy = await storeProxy(herald.servers.s3Url);
    planted.defer(() => proxy.close());
    proxy.set(async ({ method, key }, pass) =>
      method === "PUT" && key.includes("/messages/") ? refusal(507, "QuotaExceeded") : pass(),
    );
    planted.defer(() => removeExports(at()));
    const [now, since] = [new Date(), new Date(Date.now() - hourMs)];
    const to = { ...s3Destination(herald.servers.s3Url), endpoint: proxy.url };
    const one = aWarehouseExport(to, {
      tenant_id: tenantId,
      app_id: app._id,
      datasets: ["deliveries", "messages"],
      due_at: new Date(now.getTime() + hourMs),
    });
    const windows = one.datasets.map((dataset) => ({ dataset, from: since, to: now }));
    const run = newRun(one, { id: newId("warehouseRun", now), trigger: "schedule", windows, now });
    await exportsOf(at()).insertOne(one);
    await db.collection<WarehouseRunRow>("warehouse_runs").insertOne({ ...run, attempt: 5 });
    await fires(["HeraldWarehouseExportsPartial"]);
    await shows("HeraldWarehouseExportsPartial", run._id, "QUOTA");
  });
};

const exportsOf = ({ sending: { system } }: Planted) => system.db.collection<WarehouseExportRow>("warehouse_exports");

const removeExports = async (planted: Planted): Promise<void> => {
  const { db, app } = planted.sending.system;
  await exportsOf(planted).deleteMany({ app_id: app._id });
  await db.collection<WarehouseRunRow>("warehouse_runs").deleteMany({ app_id: app._id });
};
