import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { eventStream, webhookConsumer } from "#core/queue/jetstream/topology.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import { type EventDayRow, eventDayCollection } from "#core/storage/events/event-days.ts";
import { partitionOf, testPartitioning } from "../../support/rows/partitioning.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { addEndpoint, eventsUrl } from "../../support/webhooks/traffic.ts";
import { type CpuOfEach, cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { runLoad } from "../messages/load.ts";
import { mostRssMiB, type Programs, startPrograms } from "../programs.ts";
import type { Round } from "../servers.ts";
import { arrived, startWebhookSink, type WebhookSink } from "../webhooks/sink.ts";
import { measureDefinitions } from "./definitions.ts";

const whole = { events: 40_000, warmUp: 10_000, perRequest: 100, names: 20, people: 2_000, hasIds: true };
/** Events without a sender's id are published before they are stored anywhere (docs/decisions/0043). */
const rounds = [
  { dispatchers: 1, hasIds: true },
  { dispatchers: 1, hasIds: false },
  { dispatchers: 2, hasIds: true },
];
const short: typeof whole = { ...whole, events: 400, warmUp: 100 };
const publishers = 16;
const withinMs = 180_000;

type Result = {
  /** Stored, counted and matched. */
  perSecond: number;
  acceptedPerSecond: number;
  /** At the receiver. */
  arrivedPerSecond: number;
  cpuUs: CpuOfEach;
  rssMiB: number;
};

/**
 * Events from the first request until each is stored, counted and matched to the one webhook that wants it, whose requests
 * are sent meanwhile; and until the last has arrived there.
 */
const measureThroughput: Measurement = async (round, tell) => {
  for (const { dispatchers, hasIds } of rounds) {
    const size = { ...(round.isShort ? short : whole), hasIds };
    const pushUs = await round.pushUs();
    const { perSecond, cpuUs, ...result } = await throughput(round, size, dispatchers);
    const how =
      `${size.events} events of ${size.names} names and ${size.people} people, ${size.perRequest} a request; accepted at ` +
      `${result.acceptedPerSecond.toFixed(0)}/s, sent at ${result.arrivedPerSecond.toFixed(0)}/s; dispatcher at most ` +
      `${result.rssMiB.toFixed(0)} MiB; CPU of each, webhook included, µs: ${cpuUs.all.toFixed(0)}: ${splitOf(cpuUs)}`;
    const title = `custom events${hasIds ? "" : " without ids"}`;
    const name = `${title}, ${dispatchers} dispatcher${dispatchers === 1 ? "" : "s"}, counted and matched`;
    tell({ name, reach: atLeast(5_000), value: perSecond, unit: "/s", how, pushUs });
  }
};

const throughput = ({ withInstallation }: Round, size: typeof whole, dispatchers: number): Promise<Result> =>
  withInstallation(
    async ({ system, stores }) => {
      const sink = await startWebhookSink();
      const nats = await connectNats({ url: stores.nats.url, name: "bench" });
      try {
        const names = namesOf(size);
        await addEndpoint(system, { url: sink.url, names, max_in_flight: webhookLimits.maxInFlight.most });
        const programs = await startPrograms({ system, stores }, dispatchers);
        return await measure({ ...programs, system, sink, nats }, size);
      } finally {
        sink.stop();
        await nats.close();
      }
    },
    { durable: true },
  );

type Bench = Programs & { system: System; sink: WebhookSink; nats: Nats };

const measure = async (bench: Bench, size: typeof whole): Promise<Result> => {
  await publish(bench, size, { from: 0, to: size.warmUp });
  await Promise.all([counted(bench, size.warmUp), arrived(bench.sink, size.warmUp, withinMs)]);
  await bench.sink.forget();
  const [cpuBefore, beganMs] = [bench.cpuUs(), performance.now()];
  const perSecondSince = async (done: Promise<unknown>): Promise<number> => {
    await done;
    return (size.events / (performance.now() - beganMs)) * 1_000;
  };
  const acceptedPerSecond = await publish(bench, size, { from: size.warmUp, to: size.warmUp + size.events });
  const [perSecond, arrivedPerSecond] = await Promise.all([
    perSecondSince(counted(bench, size.warmUp + size.events).then(() => matched(bench))),
    perSecondSince(arrived(bench.sink, size.events, withinMs)),
  ]);
  const cpuUs = cpuOfEach(cpuBefore, bench.cpuUs(), size.events);
  return { perSecond, acceptedPerSecond, arrivedPerSecond, cpuUs, rssMiB: mostRssMiB(bench.dispatchers) };
};

const namesOf = ({ names }: typeof whole): string[] => Array.from({ length: names }, (_, n) => `event_${n}`);

/** Gives the events accepted a second. */
const publish = async (
  { system, apiserver }: Bench,
  { perRequest, names, people, hasIds }: typeof whole,
  { from, to }: { from: number; to: number },
): Promise<number> => {
  const event = (n: number) => ({
    ...(hasIds && { id: `e-${n}` }),
    name: `event_${n % names}`,
    external_id: `user-${n % people}`,
    value: n % 100,
    properties: { bench_n: n, currency: n % 3 === 0 ? "EUR" : "USD", plan: `plan-${n % 7}`, page: `/p/${n % 50}` },
  });
  const { perSecond, failures } = await runLoad({
    url: eventsUrl(system, apiserver),
    connections: publishers,
    requests: Math.ceil((to - from) / perRequest),
    headers: { authorization: `Bearer ${system.token}` },
    body: (request) => {
      const first = from + request * perRequest;
      const count = Math.min(perRequest, to - first);
      return JSON.stringify({ events: Array.from({ length: count }, (_, i) => event(first + i)) });
    },
    status: 202,
  });
  if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
  return perSecond * perRequest;
};

const counted = ({ system }: Bench, count: number): Promise<void> =>
  until(async () => (await countedEvents(system)) === count, withinMs);

/** Nothing waits for the consumer that gives events to webhooks. */
const matched = ({ nats, system: { prefix, app } }: Bench): Promise<void> =>
  until(async () => {
    const { num_pending: waiting, num_ack_pending: inHand } = await nats.jsm.consumers.info(
      eventStream(prefix, timings.usual, testPartitioning).stream.name,
      webhookConsumer(partitionOf(app._id)),
    );
    return waiting + inHand === 0;
  }, withinMs);

const countedEvents = async ({ db, app }: System): Promise<number> => {
  const rows = await db
    .collection<EventDayRow>(eventDayCollection.name)
    .find({ app_id: app._id }, { projection: { count: 1 } })
    .toArray();
  return rows.reduce((sum, { count }) => sum + count, 0);
};

/** Custom events: how fast they are stored and counted, and what reading the counts takes. */
export const customEvents: Measurements = {
  "custom-events-throughput": measureThroughput,
  "custom-events-definitions": measureDefinitions({ reach: atMost(100) }),
};
