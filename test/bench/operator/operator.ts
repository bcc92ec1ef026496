import { setTimeout as sleep } from "node:timers/promises";
import { peakRssMiB, rssMiB } from "../../../dev/processes/usage.ts";
import { until } from "../../support/until.ts";
import { atLeast, atMost, type Figure } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { type Changer, changer, quantile } from "./changes.ts";
import { resources, surroundings } from "./resources.ts";
import { type OperatorBench, onOperatorBench, post, type RunningOperator } from "./system.ts";
import { type Verified, verified, verifiedAgain, whenIdle, whenLeading } from "./verified.ts";

/** Resources, changes of them (each so long after the one before), and what is waited for. */
type Size = {
  all: number;
  busy: Pace;
  idle: Pace;
  quietMs: number;
  resyncSeconds: number;
};
type Pace = { everyMs: number; changes: number };

const whole: Size = {
  all: 10_000,
  busy: { everyMs: 50, changes: 400 },
  idle: { everyMs: 200, changes: 100 },
  quietMs: 120_000,
  resyncSeconds: 60, // and up to half of it more; 600 by default
};
const short: Size = {
  all: 40,
  busy: { everyMs: 50, changes: 5 },
  idle: { everyMs: 50, changes: 5 },
  quietMs: 500,
  resyncSeconds: 1,
};
const longestMs = 300_000;

/** All figures of many resources, on one cluster. */
const measureOperator: Measurement = (round, tell) =>
  onOperatorBench(round, async (bench) => {
    const size = round.isShort ? short : whole;
    await post(bench.client, surroundings(size.all));
    await post(bench.client, resources(size.all));
    const changes = await changer(bench.client);
    const made = bench.start();
    await until(() => changes.areReady(), longestMs);
    const madeSeconds = (performance.now() - made.startedAt) / 1_000;
    await (await made.ready).stop();
    const { started, requests } = await resync(bench, size);
    tell(...startFigures(size.all, madeSeconds, started));
    const { operator, times } = await changesDuringStart(bench, changes, size);
    tell(timesFigure("a change during the resync", { mostMs: 2_000, times, ...size.busy }));
    const idleTimes = await changes.times(size.idle.everyMs, (count) => count === size.idle.changes);
    tell(timesFigure("a change when idle", { mostMs: 300, times: idleTimes, ...size.idle }));
    await whenIdle(operator);
    const quiet = await quietly(operator, size.quietMs);
    tell(memoryFigure(operator, size), requestsFigure(quiet, requests, size.quietMs));
    await handOver(bench, { leader: operator, changes, tell });
    await changes.close();
  });

const startFigures = (all: number, madeSeconds: number, { seconds, perSecond, cpuUsPerPass }: Verified): Figure[] => {
  const cpu = Object.entries(cpuUsPerPass).map(([name, us]) => `${name} ${us.toFixed(0)}`);
  const name = `operator, start → ${all.toLocaleString("en")} resources verified`;
  const how = `the first time, all to be made, ${madeSeconds.toFixed(0)} s`;
  const split = `CPU a pass, µs: ${cpu.join(", ")}`;
  return [
    { name, reach: atMost(60), value: seconds, unit: "s", how },
    { name: "operator, passes that change nothing", reach: atLeast(500), value: perSecond, unit: "/s", how: split },
  ];
};

type Times = { mostMs: number; times: readonly number[]; everyMs: number };

const timesFigure = (name: string, { mostMs, times, everyMs }: Times): Figure => {
  const p99Ms = quantile(times, 0.99);
  const p50Ms = quantile(times, 0.5);
  const how = `${times.length} changes, one each ${everyMs} ms, write → status; p50 ${p50Ms.toFixed(0)} ms`;
  return { name: `operator, ${name}, p99`, reach: atMost(mostMs), value: p99Ms, unit: "ms", how };
};

/** A start, and then one whole list of every kind. */
const resync = async (
  bench: OperatorBench,
  { all, resyncSeconds }: Size,
): Promise<{ started: Verified; requests: number }> => {
  const starting = bench.start({ HERALD_OPERATOR_RESYNC_SECONDS: String(resyncSeconds) });
  const started = await verified(bench, all, starting);
  const before = await started.operator.measured();
  const isAlone = all === whole.all; // in a short round a store may be too slow beside others, and the pass is made again
  if (isAlone && before.failures > 0) throw new Error(`${before.failures} passes failed`);
  const after = await verifiedAgain(started.operator, before.passes + all);
  await started.operator.stop();
  return { started, requests: (after.requests["GET"] ?? 0) - (before.requests["GET"] ?? 0) };
};

/** Resources are changed while an operator that has just taken the lead verifies all of them. */
const changesDuringStart = async (
  bench: OperatorBench,
  changes: Changer,
  { all, busy }: Size,
): Promise<{ operator: RunningOperator; times: number[] }> => {
  const starting = bench.start();
  let isVerified = false;
  const verifying = verified(bench, all, starting).finally(() => {
    isVerified = true;
  });
  await whenLeading(starting);
  const times = await changes.times(busy.everyMs, (count) => count > 0 && (isVerified || count === busy.changes));
  return { operator: (await verifying).operator, times };
};

const count = (requests: Readonly<Record<string, number>>): number =>
  Object.values(requests).reduce((sum, one) => sum + one, 0);

const quietly = async ({ measured }: RunningOperator, quietMs: number): Promise<Record<string, number>> => {
  const before = await measured();
  await sleep(quietMs);
  const after = await measured();
  return Object.fromEntries(
    Object.entries(after.requests).map(([method, many]) => [method, many - (before.requests[method] ?? 0)]),
  );
};

const memoryFigure = ({ pid }: RunningOperator, { all, quietMs }: Size): Figure => {
  const megabytes = peakRssMiB(pid) * 1.048576;
  const how = `at most; ${(rssMiB(pid) * 1.048576).toFixed(0)} MB after ${quietMs / 1_000} s without a change`;
  const name = `operator, RSS at ${all.toLocaleString("en")} resources`;
  return { name, reach: atMost(384), value: megabytes, unit: "MB", how };
};

const resyncEverySeconds = 750; // 600, and a quarter of it more on average

const requestsFigure = (quiet: Record<string, number>, ofResync: number, quietMs: number): Figure => {
  const perMinute = count(quiet) / (quietMs / 60_000);
  const methods = Object.entries(quiet).filter(([, many]) => many > 0);
  const beside = `the lists of a resync, each 10 to 15 min: ${ofResync} (${((60 * ofResync) / resyncEverySeconds).toFixed(0)}/min)`;
  const how = `in ${quietMs / 1_000} s ${methods.map(([method, many]) => `${many} ${method}`).join(", ")}; ${beside}`;
  return { name: "operator, requests when nothing changes", reach: atMost(12), value: perMinute, unit: "/min", how };
};

type HandOver = { leader: RunningOperator; changes: Changer; tell: (...figures: Figure[]) => void };

/** From the end of the leader until a change that is made then has been seen to by the next. */
const handOver = async (bench: OperatorBench, { leader, changes, tell }: HandOver): Promise<void> => {
  const how = "until a change made then is in the resource's status";
  const second = await bench.start().ready;
  await leader.kill();
  const afterKill = (await changes.one()) / 1_000;
  tell({ name: "operator, killed → the next one works", reach: atMost(20), value: afterKill, unit: "s", how });
  await whenIdle(second);
  const third = await bench.start().ready;
  const stopped = second.stop();
  const afterStop = (await changes.one()) / 1_000;
  await stopped;
  await third.stop();
  tell({ name: "operator, SIGTERM → the next one works", reach: atMost(2), value: afterStop, unit: "s", how });
};

/** Keeping custom resources. */
export const operator: Measurements = { "operator-ten-thousand": measureOperator };
