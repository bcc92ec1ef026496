import { setTimeout as sleep } from "node:timers/promises";
import type { System } from "../../support/system/system.ts";
import { addEndpoint, anEvent, deliveriesBecome, postEvents } from "../../support/webhooks/traffic.ts";
import { quantiles } from "../messages/load.ts";
import { peakRssMiB } from "../process-usage.ts";
import type { Round } from "../servers.ts";
import { arrived, monotonicMs, type WebhookSink } from "./sink.ts";
import { onWebhookBench, type WebhookBench } from "./system.ts";

export type LatencyResult = { p50Ms: number; p99Ms: number; sent: number; arrived: number; repeated: number };

const healthyName = "healthy";

/** Publish → arrival at an even pace; nothing else happens. */
export const latency = (round: Round, pace: Pace): Promise<LatencyResult> =>
  onWebhookBench(
    round,
    ({ system, sink }) => addHealthy(system, sink),
    async (bench) => {
      await warmUp(bench, pace.warmUp);
      return paced(bench, pace);
    },
  );

export type Hanging = { endpoints: number; queued: number; pace: Pace };
export type HangingResult = LatencyResult & {
  /** Dispatcher, once all was queued and while the healthy endpoint was served. */
  peakRssMiB: number;
  queued: number;
  /** Events a second that were taken in, until the last was stored as a delivery. */
  queuedPerSecond: number;
};

/** The same for one endpoint of an app that has others which never answer, each with a queue. */
export const latencyBesideHanging = (round: Round, hanging: Hanging): Promise<HangingResult> =>
  onWebhookBench(
    round,
    async ({ system, sink }) => {
      await addHealthy(system, sink);
      return Promise.all(
        Array.from({ length: hanging.endpoints }, (_, n) =>
          addEndpoint(system, { url: `${sink.url}/hang/${n}`, names: [hangingName(n)] }),
        ),
      );
    },
    async (bench, endpoints) => {
      const queued = hanging.endpoints * hanging.queued;
      const startedMs = monotonicMs();
      await queueUp(bench, hanging);
      const ids = endpoints.map(({ _id }) => _id);
      const isAll = (counts: object) => Object.values(counts).reduce((sum: number, n: number) => sum + n, 0) >= queued;
      await deliveriesBecome(bench.system, ids, { are: isAll, withinMs: 600_000 });
      const queuedPerSecond = (queued / (monotonicMs() - startedMs)) * 1000;
      await warmUp(bench, hanging.pace.warmUp);
      const result = await paced(bench, hanging.pace);
      return { ...result, queued, queuedPerSecond, peakRssMiB: peakRssMiB(bench.dispatcher.pid()) };
    },
  );

const addHealthy = (system: System, { url }: WebhookSink) =>
  addEndpoint(system, { url: `${url}/healthy`, names: [healthyName, "warm"] });

const hangingName = (n: number): string => `hang_${n}`;

/** An endpoint's first requests open connections and compile code. */
const warmUp = async ({ system, apiserver, sink }: WebhookBench, events: number): Promise<void> => {
  for (let n = 0; n < events; n++) await postEvents(system, apiserver, [anEvent("warm", n)]);
  await arrived(sink, events, 30_000);
  await sink.forget();
};

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

/** Events a second, how many, and how many come before them. */
export type Pace = { perSecond: number; events: number; warmUp: number };

const lastWithinMs = 30_000;

/** Posts one event after another at an even pace, whether or not the last one was answered. */
const paced = async (bench: WebhookBench, { perSecond, events }: Pace): Promise<LatencyResult> => {
  const sentAtMs: number[] = [];
  const posting: Promise<void>[] = [];
  const startMs = monotonicMs();
  for (let n = 0; n < events; n++) {
    await sleep(Math.max(0, startMs + (n * 1000) / perSecond - monotonicMs()));
    sentAtMs.push(monotonicMs());
    posting.push(postEvents(bench.system, bench.apiserver, [anEvent(healthyName, n)]));
  }
  await Promise.all(posting);
  await arrived(bench.sink, events, lastWithinMs).catch(() => undefined); // how many came is a figure
  const [totals, arrivals] = [await bench.sink.totals(), await bench.sink.arrivals()];
  const tookMs = [...arrivals].map(([n, atMs]) => atMs - (sentAtMs[n] ?? Number.NaN));
  return { ...quantiles(tookMs), sent: events, arrived: arrivals.size, repeated: totals.requests - totals.distinct };
};
