import { peakRssMiB } from "../../dev/processes/usage.ts";
import type { SystemProgram } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import { type Cpu, cpuMeter } from "./cpu.ts";
import type { Installation } from "./servers.ts";
import { type Statements, statementsSoFar } from "./statements.ts";

const withinMs = 60_000;

/** The programs that deliver, and their CPU so far with that of the stores. */
export type Programs = {
  apiserver: SystemProgram;
  dispatchers: readonly SystemProgram[];
  cpuUs: () => Cpu;
  /** Commands to MongoDB so far. */
  statements: () => Promise<Statements>;
  /** Partitions of events that each dispatcher owns now. */
  owned: () => Promise<number[]>;
};

/** Starts an apiserver and dispatchers, and waits until each dispatcher has its part of the endpoints. */
export const startPrograms = async (
  { system, stores }: Pick<Installation, "system" | "stores">,
  dispatcherCount: number,
): Promise<Programs> => {
  const starting = Array.from({ length: dispatcherCount }, () => system.start("dispatcher"));
  const [apiserver, ...dispatchers] = await Promise.all([system.start("apiserver"), ...starting]);
  const owned = () => Promise.all(dispatchers.map(partitionsOf));
  await until(async () => areSpread(await owned()), withinMs);
  const programs = { apiserver: [apiserver], dispatcher: dispatchers };
  const statements = () => statementsSoFar(programs);
  return { apiserver, dispatchers, cpuUs: cpuMeter(stores, programs), statements, owned };
};

/** Most memory that one of them ever had, MiB. */
export const mostRssMiB = (dispatchers: readonly SystemProgram[]): number =>
  Math.max(...dispatchers.map((one) => peakRssMiB(one.pid())));

/** Partitions that a dispatcher owns. */
const partitionsOf = async ({ healthUrl }: SystemProgram): Promise<number> => {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  const [, partitions] = /^herald_webhook_partitions(?:\{.*\})? (\d+)$/m.exec(metrics) ?? [];
  return Number(partitions);
};

const areSpread = (shares: readonly number[]): boolean =>
  Math.min(...shares) > 0 && Math.max(...shares) - Math.min(...shares) <= 1;
