import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { peakRssMiB } from "../../../dev/processes/usage.ts";
import { anExport } from "../../support/rows/exports.ts";
import { aUser } from "../../support/rows/fixtures.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { cpuMeter, cpuOfEach, splitOf } from "../cpu.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";

const whole = { users: 1_000_000, withinMs: 600_000 };
const short: typeof whole = { users: 2_000, withinMs: 60_000 };

/** An export of users with tags and properties, from when it is due until its file can be downloaded. */
const measureUsers: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { users, withinMs } = isShort ? short : whole;
    await seedUsers(system, users);
    const dispatcher = await system.start("dispatcher");
    if (!isShort) await setTimeout(settleMs); // what its start left is collected by then
    resetPeak(dispatcher.pid());
    const cpuUs = cpuMeter(stores, { dispatcher: [dispatcher] });
    const rows = system.db.collection<ExportRow>("exports");
    const { _id } = anExport({ tenant_id: system.tenantId, app_id: system.app._id });
    const [before, beganMs] = [cpuUs(), performance.now()];
    await rows.insertOne(anExport({ _id, tenant_id: system.tenantId, app_id: system.app._id }));
    const ended = async (): Promise<boolean> => (await rows.findOne({ _id }))?.completed_at !== null;
    await until(ended, withinMs, 100);
    const seconds = (performance.now() - beganMs) / 1_000;
    const made = await rows.findOne({ _id });
    if (made?.row_count !== users) throw new Error(`${made?.row_count} rows of ${users}: ${made?.error}`);
    const bytes = (made.file?.size_bytes ?? 0) / 1_048_576;
    const how = `${users} users, ${bytes.toFixed(0)} MiB; CPU of each row, µs: ${splitOf(cpuOfEach(before, cpuUs(), users))}`;
    tell(
      { name: "export of 1,000,000 users", reach: atMost(45), value: seconds, unit: "s", how },
      {
        name: "most memory of the dispatcher meanwhile",
        reach: atMost(250),
        value: peakRssMiB(dispatcher.pid()),
        unit: "MiB",
        how: "VmHWM, from the begin of the export on",
      },
    );
  });

const settleMs = 10_000;

/** Has the kernel measure the most memory of a process from now on: proc_pid_clear_refs(5). */
const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

const atOnce = 5_000;

const seedUsers = async ({ db, tenantId, app }: System, count: number): Promise<void> => {
  const at = new Date();
  for (let from = 0; from < count; from += atOnce) {
    const page = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n);
    const rows = page.map((n) => ({
      ...aUser({ tenant_id: tenantId, app_id: app._id }),
      tags: { plan: n % 3 === 0 ? "gold" : "free", city: `City ${n % 500}` },
      properties: { language: "de", score: n, note: 'said "hello", twice' },
      last_active_at: at,
    }));
    await db.collection<UserRow>("users").insertMany(rows, { ordered: false });
  }
};

/** What exports cost. */
export const exports: Measurements = { "export-users": measureUsers };
