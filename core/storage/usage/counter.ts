import type { Clock } from "../../domain/clock.ts";
import { addUsage, noUsage, type UsageCounts } from "../../domain/usage/figures.ts";
import type { Part } from "../../runtime/process/lifecycle.ts";
import type { Log } from "../../runtime/process/log.ts";
import { passes } from "../../runtime/process/passes.ts";
import { periodsAt, type TenantUsage, type UsageChange } from "./tenant-usage.ts";

/** Counts what a tenant does; never waits and never fails. */
export type CountUsage = (tenantId: string, counts: Partial<UsageCounts>) => void;

export type UsageCounter = Part & {
  count: CountUsage;
  /** Stores what was counted since the last time. */
  flush: () => Promise<void>;
};

export type UsageCounterDeps = {
  rows: Pick<TenantUsage, "add">;
  clock: Clock;
  log: Log;
  everyMs?: number;
};

const mostTenants = 10_000; // that do something between two writes, in one process: some 200 bytes each
const mostWaiting = 20_000; // rows that are not stored, as the store is away
const writeRows = 500;
const lastTries = 3;

/**
 * Counts in memory by tenant, and adds the sums to what is stored every few seconds, more rarely while many tenants are
 * busy: one write for all that did something. A kill loses what is not stored yet; what is being written when the store goes away may count twice
 * (docs/decisions/0094).
 */
export const usageCounter = ({ rows, clock, log, everyMs = 5_000 }: UsageCounterDeps): UsageCounter => {
  const sums = sumsOf(clock);
  let leftOut = 0;

  const flush = async (): Promise<void> => {
    const { changes, dropped } = sums.takeAll();
    leftOut = turnsLeftOut(changes.length);
    if (dropped > 0) log.warn({ dropped }, "usage.dropped");
    for (let from = 0; from < changes.length; from += writeRows) {
      try {
        (await rows.add(changes.slice(from, from + writeRows))).forEach(sums.putBack);
      } catch (err) {
        log.warn({ err, waiting: changes.length - from }, "usage.not_stored");
        return changes.slice(from).forEach(sums.putBack); // the store is away: later
      }
    }
  };
  const turn = async (): Promise<void> => {
    if (leftOut > 0) leftOut--;
    else await flush();
  };
  const flushing = passes({
    name: "usage",
    everyMs,
    pass: turn,
    onError: (err) => log.error({ err }, "usage.failed"),
  });
  return {
    ...flushing,
    count: sums.count,
    flush,
    stop: async (signal) => {
      await flushing.stop(signal);
      for (let tries = 1; sums.size() > 0 && tries <= lastTries; tries++) await flush();
    },
  };
};

/** What is counted and not stored: by tenant, and, once it was tried to store it, by tenant and period. */
const sumsOf = (clock: Clock) => {
  const counted = new Map<string, UsageCounts>();
  const waiting = new Map<string, UsageChange>();
  let dropped = 0;

  const count: CountUsage = (tenantId, counts) => {
    const sum = counted.get(tenantId);
    if (sum !== undefined) addUsage(sum, counts);
    else if (counted.size >= mostTenants) dropped++;
    else counted.set(tenantId, { ...noUsage(), ...counts });
  };
  const putBack = (change: UsageChange): void => {
    const key = `${change.period.id}/${change.tenantId}`;
    const known = waiting.get(key);
    if (known !== undefined) addUsage(known.counts, change.counts);
    else if (waiting.size >= mostWaiting) dropped++;
    else waiting.set(key, change);
  };
  return {
    count,
    putBack,
    size: (): number => counted.size + waiting.size,
    /** What was counted belongs to the periods of this moment; `dropped` is how often there was no room. */
    takeAll: (): { changes: UsageChange[]; dropped: number } => {
      const periods = periodsAt(clock.now());
      for (const [tenantId, counts] of counted)
        for (const period of periods) putBack({ tenantId, period, counts: { ...counts } });
      const taken = { changes: [...waiting.values()], dropped };
      counted.clear();
      waiting.clear();
      dropped = 0;
      return taken;
    },
  };
};

const rowsEach = 200;
const most = 11;

/**
 * How many turns a process leaves out after it has added to so many rows: one for each 200, so that thousands of busy
 * tenants cost the store no more than hundreds; 11 at most. Source: docs/reference/usage.md#exactness.
 */
export const turnsLeftOut = (rows: number): number => Math.min(most, Math.floor(rows / rowsEach));
