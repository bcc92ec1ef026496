import type { Round } from "../servers.ts";
import { allStored, onWarmBench, publish, type Scenario, withinMs } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";

export type KillResult = {
  /** The pace that was kept, the lower of those of both halves. */
  sentPerSecond: number;
  /** Deliveries that never arrived. */
  lost: number;
  /** Requests beyond the first of an event. */
  repeated: number;
  /** From the kill until every endpoint got an event that was published after it. */
  servedAgainSeconds: number;
};

/**
 * Kills the last of the dispatchers when a quarter of a scenario has arrived, which goes on at its pace; its second half
 * is published after the kill, also where deliveries are slow. In a short round it is stopped and started again: others
 * use it, and nobody has to wait until it counts as gone.
 */
export const killDuring = (round: Round, scenario: Scenario): Promise<KillResult> =>
  onWarmBench(round, scenario, async (bench, endpoints) => {
    const { sink, dispatchers } = bench;
    const victim = dispatchers.at(-1);
    const half = scenario.events / 2;
    const publishing = publish(bench, { ...scenario, events: half });
    await arrived(sink, half / 2, withinMs);
    const endedAtMs = monotonicMs();
    await (round.isShort ? victim?.stop() : victim?.kill());
    const halves = [await publishing, await publish(bench, { ...scenario, events: half, firstEvent: half })];
    await allStored(bench, endpoints, scenario).catch(() => undefined); // how many came is a figure
    const { requests, distinct } = await sink.totals();
    const sentAtMs: number[] = Object.assign([], ...halves.map((one) => one.sentAtMs));
    const afterMs = firstArrivals(scenario.names, endedAtMs, { sentAtMs, arrivals: await sink.arrivals() });
    if (round.isShort) await victim?.restart();
    return {
      sentPerSecond: Math.min(...halves.map(({ perSecond }) => perSecond)),
      lost: scenario.events - distinct,
      repeated: requests - distinct,
      servedAgainSeconds: (Math.max(...afterMs) - endedAtMs) / 1000,
    };
  });

/** When each of some endpoints in turn first got an event that was published after an instant; never is infinity. */
export const firstArrivals = (
  endpoints: number,
  sinceMs: number,
  { sentAtMs, arrivals }: { sentAtMs: readonly number[]; arrivals: ReadonlyMap<number, number> },
): number[] => {
  const first = Array.from({ length: endpoints }, () => Number.POSITIVE_INFINITY);
  for (const [n, atMs] of arrivals) {
    const endpoint = n % endpoints;
    if ((sentAtMs[n] ?? 0) > sinceMs) first[endpoint] = Math.min(first[endpoint] ?? atMs, atMs);
  }
  return first;
};
