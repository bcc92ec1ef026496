import { setTimeout as sleep } from "node:timers/promises";
import { peakRssMiB } from "../../../dev/processes/usage.ts";
import { mostRssMiB } from "../programs.ts";
import type { Round } from "../servers.ts";
import { allStored, onWarmBench, publish, type Scenario, withinMs } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";

/** How long JetStream is away, after how many events. */
export type Outage = { afterEvents: number; awayMs: number };

export type OutageResult = {
  /** The pace that was kept. */
  sentPerSecond: number;
  /** Events that were accepted and never arrived. */
  lost: number;
  /** Requests beyond the first of an event. */
  repeated: number;
  /** From JetStream's return to the last arrival that was late. */
  levelAgainSeconds: number;
  /** Most memory of the programs before JetStream went away, and at the end. */
  apiserverMiB: BeforeAndAfter;
  dispatcherMiB: BeforeAndAfter;
};

type BeforeAndAfter = { before: number; after: number };

const lateMs = 1_000;

/**
 * Takes JetStream away while a scenario goes on at its pace, which is to be longer than that. In a short round it stays: others use it.
 */
export const awayDuring = (round: Round, scenario: Scenario, { afterEvents, awayMs }: Outage): Promise<OutageResult> =>
  onWarmBench(round, scenario, async (bench, endpoints) => {
    const { sink, dispatchers, apiserver, stores } = bench;
    const mostMiB = () => ({ apiserver: peakRssMiB(apiserver.pid()), dispatcher: mostRssMiB(dispatchers) });
    const publishing = publish(bench, scenario);
    await arrived(sink, afterEvents, withinMs);
    const before = mostMiB();
    if (!round.isShort) await stores.nats.stop();
    await sleep(awayMs); // it is what is measured
    if (!round.isShort) await stores.nats.start();
    const backAtMs = monotonicMs();
    const { perSecond: sentPerSecond, sentAtMs } = await publishing;
    await allStored(bench, endpoints, scenario).catch(() => undefined); // how many came is a figure
    const [{ requests, distinct }, arrivals] = [await sink.totals(), await sink.arrivals()];
    const late = [...arrivals].filter(([n, atMs]) => atMs - (sentAtMs[n] ?? 0) > lateMs).map(([, atMs]) => atMs);
    const after = mostMiB();
    return {
      sentPerSecond,
      lost: scenario.events - distinct,
      repeated: requests - distinct,
      levelAgainSeconds: Math.max(0, late.reduce((last, one) => Math.max(last, one), 0) - backAtMs) / 1000,
      apiserverMiB: { before: before.apiserver, after: after.apiserver },
      dispatcherMiB: { before: before.dispatcher, after: after.dispatcher },
    };
  });
