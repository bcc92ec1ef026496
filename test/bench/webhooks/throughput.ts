import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { onOneCoreEach } from "../cores.ts";
import { cpuOfEach } from "../cpu.ts";
import type { Work } from "../figures/compare.ts";
import { mostRssMiB } from "../programs.ts";
import type { Round } from "../servers.ts";
import { type Statements, statementsOfEach } from "../statements.ts";
import { allStored, onWarmBench, publish, type Scenario, withinMs } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";
import type { WebhookBench } from "./system.ts";

/** Deliveries from the first publish to the last arrival; their CPU until every one is stored. */
export type ThroughputResult = Work & {
  deliveries: number;
  /** Events accepted a second, from the first request to the last answer. */
  publishedPerSecond: number;
  repeated: number;
  /** Stored before they were sent. */
  deferred: number;
  /** Commands to MongoDB a delivery, by program. */
  statements: Statements;
  /** Partitions that each dispatcher owned during the measurement. */
  owned: readonly number[];
  /** Of a dispatcher. */
  peakRssMiB: number;
};

type Measured = Omit<ThroughputResult, "pushUs">;

/** Publishes events over HTTP and measures until the last of them has arrived. */
export const throughput = async (round: Round, scenario: Scenario): Promise<ThroughputResult> => {
  const pushUs = await round.pushUs();
  const result = await onWarmBench(round, scenario, (bench, endpoints) => measure(bench, endpoints, scenario));
  return { ...result, pushUs };
};

/** The same while each dispatcher may use one core only. */
export const throughputOnOneCoreEach = (round: Round, scenario: Scenario): Promise<Measured> =>
  onWarmBench(round, scenario, (bench, endpoints) =>
    onOneCoreEach(bench.dispatchers, () => measure(bench, endpoints, scenario)),
  );

const measure = async (
  bench: WebhookBench,
  endpoints: readonly WebhookRow[],
  scenario: Scenario,
): Promise<Measured> => {
  const deliveries = scenario.events * scenario.endpointsPerName;
  const cpuBefore = bench.cpuUs();
  const deferredBefore = await deferredBy(bench);
  const statementsBefore = await bench.statements();
  const startedMs = monotonicMs();
  const { perSecond: publishedPerSecond } = await publish(bench, scenario);
  const { lastAtMs } = await arrived(bench.sink, deliveries, withinMs);
  await allStored(bench, endpoints, scenario);
  const cpuNow = bench.cpuUs();
  const statements = statementsOfEach(statementsBefore, await bench.statements(), deliveries);
  const { requests, distinct } = await bench.sink.totals();
  return {
    deliveries,
    perSecond: (deliveries / (lastAtMs - startedMs)) * 1000,
    publishedPerSecond,
    cpuUs: cpuOfEach(cpuBefore, cpuNow, deliveries),
    statements,
    owned: await bench.owned(),
    repeated: requests - distinct,
    deferred: (await deferredBy(bench)) - deferredBefore,
    peakRssMiB: mostRssMiB(bench.dispatchers),
  };
};

/** Deliveries that the dispatchers have stored before they sent them. */
const deferredBy = async ({ dispatchers }: WebhookBench): Promise<number> => {
  const texts = await Promise.all(
    dispatchers.map(async ({ healthUrl }) => (await fetch(`${healthUrl}/metrics`)).text()),
  );
  const counts = texts.flatMap((text) => [...text.matchAll(/^herald_webhook_deferred_total\{.*\} (\d+)$/gm)]);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};
