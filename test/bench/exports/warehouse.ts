import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Collection, Document } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import { changeIndex } from "#core/storage/warehouse/change-index.ts";
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

type Format = Pick<WarehouseExportRow, "format" | "compression">;

const formats: { what: string; reachS: number; format: Format }[] = [
  { what: "JSON lines", reachS: 25, format: { format: "jsonl" } },
  { what: "Parquet with zstd", reachS: 30, format: { format: "parquet", compression: "zstd" } },
  { what: "Parquet with snappy", reachS: 30, format: { format: "parquet", compression: "snappy" } },
  { what: "CSV", reachS: 30, format: { format: "csv" } },
];

/** A run of deliveries in each format, from when it is due until its manifest is there. */
const measureRun: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { deliveries, withinMs } = isShort ? short : whole;
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const [to, from] = [Date.now() - 1_800_000, Date.now() - 3_600_000].map((ms) => new Date(ms)) as [Date, Date];
    const seeded = { of, from, count: deliveries, made: deliveriesFrom };
    await seed(system.db.collection(deliveryCollection.name), seeded);
    const dispatcher = await system.start("dispatcher");
    if (!isShort) await setTimeout(settleMs); // what its start left is collected by then
    const idleMiB = rssMiB(dispatcher.pid());
    writeFileSync(`/proc/${dispatcher.pid()}/clear_refs`, "5"); // as in exports.ts
    const runs = system.db.collection<WarehouseRunRow>(warehouseRunCollection.name);
    const cpuUs = cpuMeter(stores, { dispatcher: [dispatcher] });
    const sizes = new Map<string, number>();
    for (const { what, reachS, format } of formats) {
      const row = aWarehouseExport(s3Destination(stores.s3.url), { ...of, ...format, due_at: null });
      await system.db.collection<WarehouseExportRow>(warehouseExportCollection.name).insertOne(row);
      const windows = [{ dataset: "deliveries" as const, from, to }];
      const run = newRun(row, { id: newId("warehouseRun", new Date()), trigger: "manual", windows, now: new Date() });
      const [before, beganMs] = [cpuUs(), performance.now()];
      await runs.insertOne(run);
      await until(async () => (await runs.findOne({ _id: run._id }))?.open !== true, withinMs, 100);
      const seconds = (performance.now() - beganMs) / 1_000;
      const cpu = cpuOfEach(before, cpuUs(), deliveries);
      const parts = (await runs.findOne({ _id: run._id }))?.datasets[0]?.parts ?? [];
      const rows = parts.reduce((sum, part) => sum + part.rows, 0);
      if (rows !== deliveries) throw new Error(`${rows} rows of ${deliveries}`);
      const mib = parts.reduce((sum, part) => sum + part.bytes, 0) / 1_048_576;
      sizes.set(what, mib);
      const how = `${deliveries} rows, ${parts.length} files, ${mib.toFixed(0)} MiB; CPU of each row, µs: ${splitOf(cpu)}`;
      tell({ name: `1,000,000 deliveries as ${what} on S3`, reach: atMost(reachS), value: seconds, unit: "s", how });
    }
    const [csv = 0, parquet = 0, snappy = 0] = ["CSV", "Parquet with zstd", "Parquet with snappy"].map((what) =>
      sizes.get(what),
    );
    tell(
      {
        name: "size of Parquet beside CSV with gzip",
        reach: atMost(100),
        value: (100 * parquet) / csv,
        unit: "%",
        how: `zstd ${parquet.toFixed(1)} MiB, snappy ${snappy.toFixed(1)} MiB, CSV ${csv.toFixed(1)} MiB`,
      },
      {
        name: "memory of the dispatcher beside an idle one's",
        reach: atMost(256),
        value: peakRssMiB(dispatcher.pid()) - idleMiB,
        unit: "MiB",
        how: "VmHWM over all of these runs",
      },
    );
  });

type Indexed = { what: string; spec: CollectionSpec; made: (of: InApp, at: Date, count: number) => Document[] };

const indexed: Indexed[] = [
  { what: "a delivery", spec: deliveryCollection, made: deliveriesFrom },
  { what: "a custom event", spec: eventCollection, made: eventsFrom },
];

/** What the index of changes adds to the writing of a row: the same rows with and without it, by turns. */
const measureIndex: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { written } = isShort ? short : whole;
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const cpuUs = cpuMeter(stores, {});
    for (const { what, spec, made } of indexed) {
      const sums = { with: 0, without: 0 };
      for (const [turn, kind] of (["without", "with", "with", "without"] as const).entries()) {
        const rows = system.db.collection(`${spec.name}_${turn}`);
        await rows.createIndexes(spec.indexes.filter(({ name }) => kind === "with" || name !== changeIndex.name));
        const before = cpuUs();
        await seed(rows, { of, from: new Date(), count: written, made });
        sums[kind] += cpuOfEach(before, cpuUs(), written).all / 2;
      }
      const how = `${written} rows in batches of ${atOnce}: ${sums.without.toFixed(1)} µs without it`;
      const value = sums.with - sums.without;
      tell({ name: `the index of changes, ${what}`, reach: atMost(8), value, unit: "µs", how });
    }
  });

/** Custom events that came one after another. */
function eventsFrom(of: InApp, at: Date, count: number): EventRow[] {
  return Array.from({ length: count }, () => ({
    _id: newId("event", at),
    ...of,
    name: "order.paid",
    occurred_at: at,
    received_at: at,
    stored_at: at,
    person: "external_id:anna",
    external_id: "anna",
    properties: '{"plan":"pro","items":3}',
    value: 19.9,
    source: "api",
    batch: "b",
  }));
}

const settleMs = 10_000;
const atOnce = 1_000;

type InApp = { tenant_id: string; app_id: string };
type Seeded = { of: InApp; from: Date; count: number; made: Indexed["made"] };

const seed = async (rows: Collection, { of, from, count, made }: Seeded): Promise<void> => {
  for (let n = 0; n < count; n += atOnce) {
    const some = made(of, new Date(from.getTime() + n), Math.min(atOnce, count - n));
    await rows.insertMany(some, { ordered: false });
  }
};

/** What warehouse exports cost. */
export const warehouse: Measurements = { "warehouse-run": measureRun, "warehouse-index": measureIndex };
