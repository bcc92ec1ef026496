import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Collection } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { changeIndex } from "#core/storage/warehouse/changes.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import { type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { peakRssMiB, rssMiB } from "../../../dev/processes/usage.ts";
import { aWarehouseExport, s3Destination } from "../../support/rows/warehouse.ts";
import { until } from "../../support/until.ts";
import { deliveriesFrom } from "../../support/warehouse/site.ts";
import { cpuMeter, cpuOfEach, splitOf } from "../cpu.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";

const whole = { deliveries: 1_000_000, written: 100_000, withinMs: 300_000 };
const short: typeof whole = { deliveries: 2_000, written: 500, withinMs: 60_000 };

/** A run of deliveries as JSON lines, from when it is due until its manifest is there. */
const measureRun: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { deliveries, withinMs } = isShort ? short : whole;
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const [to, from] = [Date.now() - 1_800_000, Date.now() - 3_600_000].map((ms) => new Date(ms)) as [Date, Date];
    await seed(system.db.collection<DeliveryRow>(deliveryCollection.name), { of, from, count: deliveries });
    const dispatcher = await system.start("dispatcher");
    if (!isShort) await setTimeout(settleMs); // what its start left is collected by then
    const idleMiB = rssMiB(dispatcher.pid());
    writeFileSync(`/proc/${dispatcher.pid()}/clear_refs`, "5"); // as in exports.ts
    const row = aWarehouseExport(s3Destination(stores.s3.url), { ...of, due_at: null });
    await system.db.collection<WarehouseExportRow>(warehouseExportCollection.name).insertOne(row);
    const runs = system.db.collection<WarehouseRunRow>(warehouseRunCollection.name);
    const windows = [{ dataset: "deliveries" as const, from, to }];
    const run = newRun(row, { id: newId("warehouseRun", new Date()), trigger: "manual", windows, now: new Date() });
    const cpuUs = cpuMeter(stores, { dispatcher: [dispatcher] });
    const [before, beganMs] = [cpuUs(), performance.now()];
    await runs.insertOne(run);
    await until(async () => (await runs.findOne({ _id: run._id }))?.open !== true, withinMs, 100);
    const seconds = (performance.now() - beganMs) / 1_000;
    const cpu = cpuOfEach(before, cpuUs(), deliveries);
    const parts = (await runs.findOne({ _id: run._id }))?.datasets[0]?.parts ?? [];
    const rows = parts.reduce((sum, part) => sum + part.rows, 0);
    if (rows !== deliveries) throw new Error(`${rows} rows of ${deliveries}`);
    const mib = parts.reduce((sum, part) => sum + part.bytes, 0) / 1_048_576;
    const how = `${deliveries} rows, ${parts.length} files, ${mib.toFixed(0)} MiB; CPU of each row, µs: ${splitOf(cpu)}`;
    tell(
      { name: "1,000,000 deliveries as JSON lines on S3", reach: atMost(25), value: seconds, unit: "s", how },
      {
        name: "memory of the dispatcher beside an idle one's",
        reach: atMost(256),
        value: peakRssMiB(dispatcher.pid()) - idleMiB,
        unit: "MiB",
        how: "VmHWM from the begin of the run on",
      },
    );
  });

/** What the index of changes adds to the writing of a delivery: the same rows with and without it, by turns. */
const measureIndex: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { written } = isShort ? short : whole;
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const cpuUs = cpuMeter(stores, {});
    const sums = { with: 0, without: 0 };
    for (const [turn, kind] of (["without", "with", "with", "without"] as const).entries()) {
      const rows = system.db.collection<DeliveryRow>(`deliveries_${turn}`);
      const indexes = deliveryCollection.indexes.filter(({ name }) => kind === "with" || name !== changeIndex.name);
      await rows.createIndexes([...indexes]);
      const before = cpuUs();
      await seed(rows, { of, from: new Date(), count: written });
      sums[kind] += cpuOfEach(before, cpuUs(), written).all / 2;
    }
    const how = `${written} deliveries in batches of ${atOnce}: ${sums.without.toFixed(1)} µs without it`;
    tell({
      name: "the index of changes, a delivery",
      reach: atMost(8),
      value: sums.with - sums.without,
      unit: "µs",
      how,
    });
  });

const settleMs = 10_000;
const atOnce = 1_000;

type Seeded = { of: { tenant_id: string; app_id: string }; from: Date; count: number };

const seed = async (rows: Collection<DeliveryRow>, { of, from, count }: Seeded): Promise<void> => {
  for (let n = 0; n < count; n += atOnce) {
    const made = deliveriesFrom(of, new Date(from.getTime() + n), Math.min(atOnce, count - n));
    await rows.insertMany(made, { ordered: false });
  }
};

/** What warehouse exports cost. */
export const warehouse: Measurements = { "warehouse-run": measureRun, "warehouse-index": measureIndex };
