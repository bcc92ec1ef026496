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
 * Counts in memory by tenant, and adds the sums to what is stored every few seconds: one write for all tenants that did
 * something. A kill loses what is not stored yet; what is being written when the store goes away may count twice
 * (docs/decisions/0094).
 */
export const usageCounter = ({ rows, clock, log, everyMs = 5_000 }: UsageCounterDeps): UsageCounter => {
  const counted = new Map<string, UsageCounts>();
  const waiting = new Map<string, UsageChange>();
  let dropped = 0;

  const count: CountUsage = (tenantId, counts) => {
    const sum = counted.get(tenantId);
    if (sum !== undefined) return addUsage(sum, counts);
    if (counted.size >= mostTenants) return void dropped++;
    counted.set(tenantId, { ...noUsage(), ...counts });
  };
  const wait = (change: UsageChange): void => {
    const key = `${change.period.id}/${change.tenantId}`;
    const known = waiting.get(key);
    if (known !== undefined) addUsage(known.counts, change.counts);
    else if (waiting.size >= mostWaiting) dropped++;
    else waiting.set(key, change);
  };
  /** What was counted belongs to the periods of this moment. */
  const takeAll = (): UsageChange[] => {
    const periods = periodsAt(clock.now());
    for (const [tenantId, counts] of counted)
      for (const period of periods) wait({ tenantId, period, counts: { ...counts } });
    counted.clear();
    const all = [...waiting.values()];
    waiting.clear();
    return all;
  };
  const flush = async (): Promise<void> => {
    const changes = takeAll();
    if (dropped > 0) log.warn({ dropped }, "usage.dropped");
    dropped = 0;
    for (let from = 0; from < changes.length; from += writeRows) {
      try {
        (await rows.add(changes.slice(from, from + writeRows))).forEach(wait);
      } catch (err) {
        log.warn({ err, waiting: changes.length - from }, "usage.not_stored");
        return changes.slice(from).forEach(wait); // the store is away: later
      }
    }
  };
  const flushing = passes({
    name: "usage",
    everyMs,
    pass: flush,
    onError: (err) => log.error({ err }, "usage.failed"),
  });
  return {
    ...flushing,
    count,
    flush,
    stop: async (signal) => {
      await flushing.stop(signal);
      for (let tries = 1; counted.size + waiting.size > 0 && tries <= lastTries; tries++) await flush();
    },
  };
};
