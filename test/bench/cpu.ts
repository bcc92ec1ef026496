import { treeCpuUs } from "../../dev/processes/usage.ts";
import type { SystemProgram } from "../support/system/system.ts";
import type { Stores } from "./servers.ts";

/** By program and store, µs. */
export type Cpu = Record<string, number>;

/** CPU for each of some things, with the sum. */
export type CpuOfEach = Cpu & { all: number };

/** Reads the CPU so far of an installation: of all processes of a name, with what they started. */
export const cpuMeter = (stores: Stores, programs: Record<string, readonly SystemProgram[]>): (() => Cpu) => {
  const { mongodb, nats, redis, s3 } = stores;
  const [ferretdb = 0, postgres = 0] = mongodb.pids();
  const ofPrograms = mapValues(programs, (running) => running.map((one) => one.pid()));
  const servers = { nats: nats.pids(), redis: redis.pids(), s3: s3.pids() };
  const pids = { ...ofPrograms, ferretdb: [ferretdb], postgres: [postgres], ...servers };
  return () => mapValues(pids, (all) => sum(all.map(treeCpuUs)));
};

const settling = { windowMs: 6_000, windows: 20, mostUs: 300_000 }; // PostgreSQL looks each 5 s at what has changed

/**
 * Waits until the stores of an installation have done what they leave for later of many writes, as PostgreSQL's autovacuum does:
 * until all of them together have needed no more than a twentieth of a core for 6 s. Goes on after two minutes all the same.
 */
export const settled = async (stores: Stores): Promise<void> => {
  const cpuUs = cpuMeter(stores, {});
  for (let window = 0; window < settling.windows; window++) {
    const before = cpuUs();
    await new Promise((resolve) => setTimeout(resolve, settling.windowMs));
    if (cpuOfEach(before, cpuUs(), 1).all <= settling.mostUs) return;
  }
};

/** What was used since `before`, for each of `count` things. */
export const cpuOfEach = (before: Cpu, now: Cpu, count: number): CpuOfEach => {
  const each = mapValues(now, (us, name) => (us - (before[name] ?? 0)) / count);
  return { all: sum(Object.values(each)), ...each };
};

/** Who used how much, for a person to read. */
export const splitOf = (cpuUs: CpuOfEach): string =>
  Object.entries(cpuUs)
    .filter(([name]) => name !== "all")
    .map(([name, us]) => `${name} ${us.toFixed(0)}`)
    .join(", ");

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

const mapValues = <V, R>(record: Readonly<Record<string, V>>, map: (value: V, name: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
