import { systemClock } from "#core/domain/clock.ts";
import { timerSource, timers } from "#core/queue/timers.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import { dueIndex } from "#core/storage/work/due.ts";
import type { Leasable } from "#core/storage/work/leases.ts";
import { until } from "../../support/until.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";

const storedWithinMs = 5_000; // before the first is due: the lag is to be that of the timers
const whole = 3_000;
const short = 300;

/** How late what is due at its very time is begun: a document each millisecond. */
export const measureTimers: Measurement = (round, tell) =>
  round.withInstallation(async ({ system: { db } }) => {
    const count = round.isShort ? short : whole;
    const rows = db.collection<Leasable>("bench_timers");
    await ensureIndexes(db, [{ name: "bench_timers", indexes: [dueIndex] }]);
    const firstMs = Date.now() + storedWithinMs;
    const made = Array.from({ length: count }, (_, n) => ({ _id: `${n}`, due_at: new Date(firstMs + n) }));
    await rows.insertMany(made.map((row) => ({ ...row, lease: null, fence: 0 })));
    const lags: number[] = [];
    const handle = async ({ _id }: Pick<Leasable, "_id">): Promise<void> =>
      void lags.push(Date.now() - firstMs - Number(_id));
    const part = timers({
      sources: [timerSource({ name: "bench", collection: rows, select: [], handle })],
      holder: "bench",
      clock: systemClock,
      log: createLog({ program: "bench", level: "error", destination: process.stderr }),
      db,
      metrics: createMetrics("dispatcher").queue,
    });
    await part.start(new AbortController().signal);
    await until(() => lags.length >= count).finally(() => part.stop(new AbortController().signal));
    const p99Ms = lags.toSorted((a, b) => a - b)[Math.floor(count * 0.99)] ?? Number.NaN;
    const how = `${count} documents that come due one each millisecond, by one process`;
    tell({ name: "timers, lag, p99", reach: atMost(1_500), value: p99Ms, unit: "ms", how });
  });
