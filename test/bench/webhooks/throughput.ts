import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { peakRssMiB } from "../process-usage.ts";
import type { Round } from "../servers.ts";
import { allStored, onWarmBench, publish, type Scenario, withinMs } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";
import { type Cpu, cpuOfEach, type WebhookBench } from "./system.ts";

export type ThroughputResult = {
  deliveries: number;
  /** From the first publish to the last arrival. */
  perSecond: number;
  /** Events accepted a second, from the first request to the last answer. */
  publishedPerSecond: number;
  /** Of the programs and the stores, until every delivery is stored. */
  cpuUsPerDelivery: Cpu & { all: number };
  repeated: number;
  peakRssMiB: number;
};

/** Publishes events over HTTP and measures until the last of them has arrived. */
export const throughput = (round: Round, scenario: Scenario): Promise<ThroughputResult> =>
  onWarmBench(round, scenario, (bench, endpoints) => measure(bench, endpoints, scenario));

const measure = async (
  bench: WebhookBench,
  endpoints: readonly WebhookRow[],
  scenario: Scenario,
): Promise<ThroughputResult> => {
  const deliveries = scenario.events * scenario.endpointsPerName;
  const cpuBefore = bench.cpuUs();
  const startedMs = monotonicMs();
  const { perSecond: publishedPerSecond } = await publish(bench, scenario);
  const { lastAtMs } = await arrived(bench.sink, deliveries, withinMs);
  await allStored(bench, endpoints, deliveries + scenario.warmUp);
  const { requests, distinct } = await bench.sink.totals();
  return {
    deliveries,
    perSecond: (deliveries / (lastAtMs - startedMs)) * 1000,
    publishedPerSecond,
    cpuUsPerDelivery: cpuOfEach(cpuBefore, bench.cpuUs(), deliveries),
    repeated: requests - distinct,
    peakRssMiB: peakRssMiB(bench.dispatcher.pid()),
  };
};
