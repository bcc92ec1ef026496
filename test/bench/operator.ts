import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../support/until.ts";
import { type Changer, changer, quantile } from "./operator-changes.ts";
import { resources, surroundings } from "./operator-resources.ts";
import { type OperatorBench, onOperatorBench, post, type RunningOperator } from "./operator-system.ts";
import { type Verified, verified, whenIdle, whenLeading } from "./operator-verified.ts";
import { peakRssMiB, rssMiB } from "./process-usage.ts";
import { type Figure, figure, type Measurements } from "./table.ts";

const all = 10_000;
const busy = { everyMs: 50, changes: 400 };
const idle = { everyMs: 200, changes: 100 };
const quietMs = 120_000;
const longestMs = 300_000;
const resyncSeconds = 60; // and up to half of it more; 600 by default

/** All figures of 10,000 resources, on one cluster. */
const measureOperator = (): Promise<Figure[]> =>
  onOperatorBench(async (bench) => {
    await post(bench.client, surroundings(all));
    await post(bench.client, resources(all));
    const changes = await changer(bench.client);
    const made = bench.start();
    await until(() => changes.areReady(), longestMs);
    const madeSeconds = (performance.now() - made.startedAt) / 1_000;
    await (await made.ready).stop();
    const { started, requests } = await resync(bench);
    const { operator, times } = await changesDuringStart(bench, changes);
    const idleTimes = await changes.times(idle.everyMs, (count) => count === idle.changes);
    await whenIdle(operator);
    const quiet = await quietly(operator);
    const memory = memoryFigure(operator);
    const handOvers = await handOver(bench, operator, changes);
    await changes.close();
    return [
      ...startFigures(madeSeconds, started),
      timesFigure("a change during the resync", { mostMs: 2_000, times, ...busy }),
      timesFigure("a change when idle", { mostMs: 300, times: idleTimes, ...idle }),
      memory,
      requestsFigure(quiet, requests),
      ...handOvers,
    ];
  });

const startFigures = (madeSeconds: number, { seconds, perSecond, cpuUsPerPass }: Verified): Figure[] => {
  const cpu = Object.entries(cpuUsPerPass).map(([name, us]) => `${name} ${us.toFixed(0)}`);
  const how = `the first time, all to be made, ${madeSeconds.toFixed(0)} s`;
  const split = `CPU a pass, µs: ${cpu.join(", ")}`;
  return [
    figure("operator, start → 10,000 resources verified", "≤ 60 s", seconds, "s", seconds <= 60, how),
    figure("operator, passes that change nothing", "≥ 500/s", perSecond, "/s", perSecond >= 500, split),
  ];
};

type Times = { mostMs: number; times: readonly number[]; everyMs: number };

const timesFigure = (name: string, { mostMs, times, everyMs }: Times): Figure => {
  const p99Ms = quantile(times, 0.99);
  const p50Ms = quantile(times, 0.5);
  const how = `${times.length} changes, one each ${everyMs} ms, write → status; p50 ${p50Ms.toFixed(0)} ms`;
  return figure(`operator, ${name}, p99`, `≤ ${mostMs} ms`, p99Ms, "ms", p99Ms <= mostMs, how);
};

/** A start, and then one whole list of every kind. */
const resync = async (bench: OperatorBench): Promise<{ started: Verified; requests: number }> => {
  const starting = bench.start({ HERALD_OPERATOR_RESYNC_SECONDS: String(resyncSeconds) });
  const started = await verified(bench, all, starting);
  const before = await started.operator.measured();
  if (before.failures > 0) throw new Error(`${before.failures} passes failed`);
  await sleep(starting.startedAt + resyncSeconds * 1_500 - performance.now());
  const after = await whenIdle(started.operator);
  if (after.passes - before.passes < all)
    throw new Error("not every resource was verified again: the lists came early");
  await started.operator.stop();
  return { started, requests: (after.requests["GET"] ?? 0) - (before.requests["GET"] ?? 0) };
};

/** Resources are changed while an operator that has just taken the lead verifies all of them. */
const changesDuringStart = async (
  bench: OperatorBench,
  changes: Changer,
): Promise<{ operator: RunningOperator; times: number[] }> => {
  const starting = bench.start();
  let isVerified = false;
  const verifying = verified(bench, all, starting).finally(() => {
    isVerified = true;
  });
  await whenLeading(starting);
  const times = await changes.times(busy.everyMs, (count) => isVerified || count === busy.changes);
  return { operator: (await verifying).operator, times };
};

const count = (requests: Readonly<Record<string, number>>): number =>
  Object.values(requests).reduce((sum, one) => sum + one, 0);

const quietly = async ({ measured }: RunningOperator): Promise<Record<string, number>> => {
  const before = await measured();
  await sleep(quietMs);
  const after = await measured();
  return Object.fromEntries(
    Object.entries(after.requests).map(([method, many]) => [method, many - (before.requests[method] ?? 0)]),
  );
};

const memoryFigure = ({ pid }: RunningOperator): Figure => {
  const megabytes = peakRssMiB(pid) * 1.048576;
  const how = `at most; ${(rssMiB(pid) * 1.048576).toFixed(0)} MB after two minutes without a change`;
  return figure("operator, RSS at 10,000 resources", "≤ 384 MB", megabytes, "MB", megabytes <= 384, how);
};

const resyncEverySeconds = 750; // 600, and a quarter of it more on average

const requestsFigure = (quiet: Record<string, number>, ofResync: number): Figure => {
  const perSecond = count(quiet) / (quietMs / 1_000);
  const methods = Object.entries(quiet).filter(([, many]) => many > 0);
  const beside = `the lists of a resync, each 10 to 15 min: ${ofResync} (${(ofResync / resyncEverySeconds).toFixed(2)}/s)`;
  const how = `in ${quietMs / 1_000} s ${methods.map(([method, many]) => `${many} ${method}`).join(", ")}; ${beside}`;
  return figure("operator, requests when nothing changes", "≤ 0.2/s", perSecond, "/s", perSecond <= 0.2, how);
};

/** From the end of the leader until a change that is made then has been seen to by the next. */
const handOver = async (bench: OperatorBench, leader: RunningOperator, changes: Changer): Promise<Figure[]> => {
  const second = await bench.start().ready;
  await leader.kill();
  const afterKill = (await changes.one()) / 1_000;
  await whenIdle(second);
  const third = await bench.start().ready;
  const stopped = second.stop();
  const afterStop = (await changes.one()) / 1_000;
  await stopped;
  await third.stop();
  const how = "until a change made then is in the resource's status";
  return [
    figure("operator, killed → the next one works", "≤ 20 s", afterKill, "s", afterKill <= 20, how),
    figure("operator, SIGTERM → the next one works", "≤ 2 s", afterStop, "s", afterStop <= 2, how),
  ];
};

/** Keeping custom resources. */
export const operator: Measurements = { "operator-ten-thousand": measureOperator };
