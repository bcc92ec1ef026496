import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { addEndpoint, anEvent, deliveriesBecome, eventsUrl } from "../../support/webhooks/traffic.ts";
import { runLoad } from "../messages/load.ts";
import { peakRssMiB } from "../process-usage.ts";
import type { Round } from "../servers.ts";
import { arrived, monotonicMs } from "./sink.ts";
import { type Cpu, cpuOfEach, onWebhookBench, type WebhookBench } from "./system.ts";

/** Events of `names` in turn, each wanted by `endpointsPerName` endpoints. */
export type Throughput = {
  events: number;
  perRequest: number;
  names: number;
  endpointsPerName: number;
  /** Deliveries that come before, for compiled code and open connections. */
  warmUp: number;
};

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

const publishers = 32;
const withinMs = 180_000;

/** Publishes events over HTTP and measures until the last of them has arrived. */
export const throughput = (round: Round, wanted: Throughput): Promise<ThroughputResult> =>
  onWebhookBench(
    round,
    ({ system, sink }) =>
      Promise.all(
        Array.from({ length: wanted.names * wanted.endpointsPerName }, (_, n) =>
          addEndpoint(system, {
            url: `${sink.url}/${n}`,
            names: [nameOf(wanted, n), nameOf(wanted, n, "warm")],
            max_in_flight: webhookLimits.maxInFlight.most,
          }),
        ),
      ),
    async (bench, endpoints) => {
      await publish(bench, { ...wanted, events: wanted.warmUp / wanted.endpointsPerName }, "warm");
      await allStored(bench, endpoints, wanted.warmUp);
      await bench.sink.forget();
      return measure(bench, endpoints, wanted);
    },
  );

const measure = async (
  bench: WebhookBench,
  endpoints: readonly WebhookRow[],
  wanted: Throughput,
): Promise<ThroughputResult> => {
  const deliveries = wanted.events * wanted.endpointsPerName;
  const cpuBefore = bench.cpuUs();
  const startedMs = monotonicMs();
  const publishedPerSecond = await publish(bench, wanted, "event");
  const { lastAtMs } = await arrived(bench.sink, deliveries, withinMs);
  await allStored(bench, endpoints, deliveries + wanted.warmUp);
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

const nameOf = ({ names }: Pick<Throughput, "names">, n: number, kind = "event"): string => `${kind}_${n % names}`;

/** Events accepted a second. @throws when one is refused */
const publish = async ({ system, apiserver }: WebhookBench, wanted: Throughput, kind: string): Promise<number> => {
  const { events, perRequest } = wanted;
  const { perSecond, failures } = await runLoad({
    url: eventsUrl(system, apiserver),
    connections: publishers,
    requests: Math.ceil(events / perRequest),
    headers: { authorization: `Bearer ${system.token}` },
    body: (request) => {
      const first = request * perRequest;
      const count = Math.min(perRequest, events - first);
      const some = Array.from({ length: count }, (_, i) => anEvent(nameOf(wanted, first + i, kind), first + i));
      return JSON.stringify({ events: some });
    },
    status: 202,
  });
  if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
  return perSecond * perRequest;
};

/** Waits until every delivery is stored as a success: the work is not over before. */
const allStored = ({ system }: WebhookBench, endpoints: readonly WebhookRow[], count: number): Promise<void> => {
  const ids = endpoints.map(({ _id }) => _id);
  return deliveriesBecome(system, ids, { are: ({ success }) => success === count, withinMs });
};
