import type { Round } from "../servers.ts";
import { allStored, onWarmBench, publish, type Scenario, withinMs } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";

export type KillResult = {
  /** Deliveries that never arrived. */
  lost: number;
  /** Requests beyond the first of an event. */
  repeated: number;
  /** From the kill until every endpoint got an event that was published after it. */
  servedAgainSeconds: number;
};

/**
 * Kills the last of the dispatchers when a quarter of a scenario has arrived, which goes on at its pace. In a short round
 * it is stopped and started again: others use it, and nobody has to wait until it counts as gone.
 */
export const killDuring = (round: Round, scenario: Scenario): Promise<KillResult> =>
  onWarmBench(round, scenario, async (bench, endpoints) => {
    const { sink, dispatchers } = bench;
    const victim = dispatchers.at(-1);
    const publishing = publish(bench, scenario);
    await arrived(sink, scenario.events / 4, withinMs);
    const endedAtMs = monotonicMs();
    await (round.isShort ? victim?.stop() : victim?.kill());
    const { sentAtMs } = await publishing;
    await allStored(bench, endpoints, scenario).catch(() => undefined); // how many came is a figure
    const { requests, distinct } = await sink.totals();
    const afterMs = firstArrivals(await sink.arrivals(), sentAtMs, { scenario, sinceMs: endedAtMs });
    if (round.isShort) await victim?.restart();
    return {
      lost: scenario.events - distinct,
      repeated: requests - distinct,
      servedAgainSeconds: (Math.max(...afterMs) - endedAtMs) / 1000,
    };
  });

/** When each endpoint first got an event that was published after an instant; never is infinity. */
const firstArrivals = (
  arrivals: ReadonlyMap<number, number>,
  sentAtMs: readonly number[],
  { scenario, sinceMs }: { scenario: Scenario; sinceMs: number },
): number[] => {
  const later = sentAtMs.flatMap((at, n) => (at > sinceMs ? [n] : []));
  const ofEndpoint = (name: number) => later.filter((n) => n % scenario.names === name);
  return Array.from({ length: scenario.names }, (_, name) =>
    Math.min(...ofEndpoint(name).map((n) => arrivals.get(n) ?? Number.POSITIVE_INFINITY)),
  );
};
