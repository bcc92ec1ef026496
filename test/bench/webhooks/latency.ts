import type { System } from "../../support/system/system.ts";
import { addEndpoint, anEvent, deliveriesBecome, postEvents } from "../../support/webhooks/traffic.ts";
import { quantiles } from "../messages/load.ts";
import { mostRssMiB } from "../programs.ts";
import type { Round } from "../servers.ts";
import { addEndpoints, onWarmBench, publish, type Scenario, warmUp } from "./publish.ts";
import { arrived, monotonicMs } from "./sink.ts";
import { onWebhookBench, type WebhookBench } from "./system.ts";

export type LatencyResult = {
  p50Ms: number;
  p99Ms: number;
  sent: number;
  /** The pace that was kept. */
  sentPerSecond: number;
  arrived: number;
  repeated: number;
};

/** Publish → arrival at the pace of a scenario; nothing else happens. */
export const latency = (round: Round, scenario: Scenario): Promise<LatencyResult> =>
  onWarmBench(round, scenario, (bench) => paced(bench, scenario));

export type Hanging = { endpoints: number; queued: number };
export type HangingResult = LatencyResult & {
  /** Dispatcher, once all was queued and while the healthy endpoint was served. */
  peakRssMiB: number;
  queued: number;
  /** Events a second that were taken in, until the last was stored as a delivery. */
  queuedPerSecond: number;
};

/** The same for a healthy endpoint of an app that has others which never answer, each with a queue. */
export const latencyBesideHanging = (round: Round, hanging: Hanging, healthy: Scenario): Promise<HangingResult> =>
  onWebhookBench(
    round,
    async (made) => ({ healthyOnes: await addEndpoints(made, healthy), hangingOnes: await addHanging(made, hanging) }),
    async (bench, { healthyOnes, hangingOnes }) => {
      const queued = hanging.endpoints * hanging.queued;
      const startedMs = monotonicMs();
      await queueUp(bench, hanging);
      const ids = hangingOnes.map(({ _id }) => _id);
      const isAll = (counts: object) => Object.values(counts).reduce((sum: number, n: number) => sum + n, 0) >= queued;
      await deliveriesBecome(bench.system, ids, { are: isAll, withinMs: 600_000 });
      const queuedPerSecond = (queued / (monotonicMs() - startedMs)) * 1000;
      await warmUp(bench, healthyOnes, healthy);
      const result = await paced(bench, healthy);
      return { ...result, queued, queuedPerSecond, peakRssMiB: mostRssMiB(bench.dispatchers) };
    },
  );

const addHanging = ({ system, sink }: { system: System; sink: { url: string } }, { endpoints }: Hanging) =>
  Promise.all(
    Array.from({ length: endpoints }, (_, n) =>
      addEndpoint(system, { url: `${sink.url}/hang/${n}`, names: [hangingName(n)] }),
    ),
  );

const hangingName = (n: number): string => `hang_${n}`;

const perRequest = 1_000;
const publishers = 4;

/** Posts each hanging endpoint's events, a thousand a request. */
const queueUp = async ({ system, apiserver }: WebhookBench, { endpoints, queued }: Hanging): Promise<void> => {
  const requests = Array.from({ length: endpoints * Math.ceil(queued / perRequest) }, (_, n) => n);
  const publisher = async (): Promise<void> => {
    for (let n = requests.shift(); n !== undefined; n = requests.shift()) {
      const [name, first] = [hangingName(n % endpoints), Math.floor(n / endpoints) * perRequest];
      const count = Math.min(perRequest, queued - first);
      await postEvents(
        system,
        apiserver,
        Array.from({ length: count }, (_, i) => anEvent(name, first + i)),
      );
    }
  };
  await Promise.all(Array.from({ length: publishers }, publisher));
};

const lastWithinMs = 30_000;

/** Publishes a scenario and takes the time until each event first arrives. */
export const paced = async (bench: WebhookBench, scenario: Scenario): Promise<LatencyResult> => {
  const { events } = scenario;
  const { sentAtMs, perSecond: sentPerSecond } = await publish(bench, scenario);
  await arrived(bench.sink, events, lastWithinMs).catch(() => undefined); // how many came is a figure
  const [totals, arrivals] = [await bench.sink.totals(), await bench.sink.arrivals()];
  const tookMs = [...arrivals].map(([n, atMs]) => atMs - (sentAtMs[n] ?? Number.NaN));
  const repeated = totals.requests - totals.distinct;
  return { ...quantiles(tookMs), sent: events, sentPerSecond, arrived: arrivals.size, repeated };
};
