import { setTimeout as sleep } from "node:timers/promises";
import type { Measured } from "./metrics.ts";
import type { OperatorBench, RunningOperator, Starting } from "./system.ts";

/** What it took an operator to look at every resource once. */
export type Verified = {
  operator: RunningOperator;
  /** From the start of the process. */
  seconds: number;
  /** Passes, from the taking of the Lease on. */
  perSecond: number;
  /** Of the operator and of each server, from the taking of the Lease on. */
  cpuUsPerPass: Record<string, number>;
};

const pollMs = 200;
const longestMs = 300_000;

type Instant = { at: number; measured: Measured; cpuUs: Record<string, number> };

/** Waits until an operator that was just started has looked at `count` resources, and nothing is left to do. */
export const verified = async (bench: OperatorBench, count: number, starting: Starting): Promise<Verified> => {
  const { measured, ready, startedAt } = starting;
  const look = async (): Promise<Instant> => ({
    measured: await measured(),
    at: performance.now(),
    cpuUs: bench.cpuUs(),
  });
  const first = await lookUntil(look, ({ isLeader }) => isLeader);
  const last = await lookUntil(look, ({ passes, unfinished }) => passes >= count && unfinished === 0);
  const passes = last.measured.passes - first.measured.passes;
  const of = (instant: Instant) => ({ operator: instant.measured.cpuSeconds * 1e6, ...instant.cpuUs });
  const before: Record<string, number> = of(first);
  return {
    operator: await ready,
    seconds: (last.at - startedAt) / 1_000,
    perSecond: passes / ((last.at - first.at) / 1_000),
    cpuUsPerPass: Object.fromEntries(
      Object.entries(of(last)).map(([name, us]) => [name, (us - (before[name] ?? 0)) / passes]),
    ),
  };
};

/** Waits until an operator has the Lease. */
export const whenLeading = async ({ measured }: Pick<Starting, "measured">): Promise<void> => {
  await lookUntil(
    async () => ({ measured: await measured(), at: 0, cpuUs: {} }),
    ({ isLeader }) => isLeader,
  );
};

/** Waits until an operator has nothing left to do. */
export const whenIdle = async ({ measured }: RunningOperator): Promise<Measured> => {
  const look = async (): Promise<Instant> => ({ measured: await measured(), at: 0, cpuUs: {} });
  return (await lookUntil(look, ({ isLeader, passes, unfinished }) => isLeader && passes > 0 && unfinished === 0))
    .measured;
};

/** Waits until an operator has made so many passes in all, and has nothing left to do. */
export const verifiedAgain = async ({ measured }: RunningOperator, count: number): Promise<Measured> => {
  const look = async (): Promise<Instant> => ({ measured: await measured(), at: 0, cpuUs: {} });
  return (await lookUntil(look, ({ passes, unfinished }) => passes >= count && unfinished === 0)).measured;
};

const lookUntil = async (
  look: () => Promise<Instant>,
  isReached: (measured: Measured) => boolean,
): Promise<Instant> => {
  const endsAt = performance.now() + longestMs;
  for (;;) {
    const instant = await look();
    if (isReached(instant.measured)) return instant;
    if (performance.now() > endsAt)
      throw new Error(`not verified in ${longestMs} ms: ${JSON.stringify(instant.measured)}`);
    await sleep(pollMs);
  }
};
