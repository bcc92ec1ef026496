import { benchOutgoing } from "./outgoing.ts";
import { type Figure, figure, type Measurements } from "./table.ts";
import { type Hanging, type LatencyResult, latency, latencyBesideHanging } from "./webhook-latency.ts";
import { listOfDeliveries } from "./webhook-list.ts";
import { type Throughput, type ThroughputResult, throughput } from "./webhook-throughput.ts";

const events = 20_000;
const one: Throughput = { events, perRequest: 1, names: 1, endpointsPerName: 1 };

type Reach = { perSecond: number; cpuUs: number };

const measureThroughput = async (name: string, wanted: Throughput, reach: Reach): Promise<Figure[]> =>
  throughputFigures(name, await throughput(wanted), reach);

const throughputFigures = (name: string, result: ThroughputResult, reach: Reach): Figure[] => {
  const { deliveries, perSecond, repeated } = result;
  const { all: cpuUs, ...shares } = result.cpuUsPerDelivery;
  const split = Object.entries(shares).map(([program, us]) => `${program} ${us.toFixed(0)}`);
  const published = `accepted at ${result.publishedPerSecond.toFixed(0)} events/s`;
  const memory = `dispatcher at most ${result.peakRssMiB.toFixed(0)} MiB`;
  const how = `${deliveries} deliveries, 32 publishers, 20 in flight an endpoint, ${published}, ${repeated} repeated; ${memory}`;
  return [
    figure(name, `≥ ${reach.perSecond}/s`, perSecond, "/s", perSecond >= reach.perSecond, how),
    figure(`${name}, CPU`, `≤ ${reach.cpuUs} µs`, cpuUs, "µs", cpuUs <= reach.cpuUs, `a delivery: ${split.join(", ")}`),
  ];
};

/** Beside the same work for one endpoint, in the same run. */
const measureInTurn = async (): Promise<Figure[]> => {
  const alone = await throughput(one);
  const inTurn = await throughput({ ...one, names: 100 });
  const rate = (100 * inTurn.perSecond) / alone.perSecond;
  const cpu = (100 * inTurn.cpuUsPerDelivery.all) / alone.cpuUsPerDelivery.all;
  const name = "webhooks, 100 endpoints in turn";
  const how = `${inTurn.perSecond.toFixed(0)}/s; 1 endpoint in the same run: ${alone.perSecond.toFixed(0)}/s`;
  const cpuHow = `${inTurn.cpuUsPerDelivery.all.toFixed(0)} µs; 1 endpoint: ${alone.cpuUsPerDelivery.all.toFixed(0)} µs`;
  return [
    figure(name, "≥ 80 % of 1", rate, "%", rate >= 80, how),
    figure(`${name}, CPU`, "≤ 120 % of 1", cpu, "%", cpu <= 120, cpuHow),
  ];
};

const measureLatency = async (): Promise<Figure[]> => {
  const result = await latency({ perSecond: 50, events: 1_500 });
  const { p50Ms, p99Ms } = result;
  return [
    figure("webhooks, publish → arrival, p50", "≤ 5 ms", p50Ms, "ms", p50Ms <= 5, paceOf(result, 50)),
    figure("webhooks, publish → arrival, p99", "≤ 15 ms", p99Ms, "ms", p99Ms <= 15, paceOf(result, 50)),
  ];
};

const paceOf = ({ sent, repeated }: LatencyResult, perSecond: number): string =>
  `${sent} events at ${perSecond}/s, one a request, ${repeated} repeated`;

const healthyPace = { perSecond: 20, events: 800 };

const measureHanging = async (hanging: Omit<Hanging, "pace">): Promise<Figure[]> => {
  const result = await latencyBesideHanging({ ...hanging, pace: healthyPace });
  const { sent, arrived, p99Ms, peakRssMiB } = result;
  const name = `webhooks beside ${hanging.endpoints} × ${hanging.queued} that hang`;
  const how = `${paceOf(result, 20)}; p50 ${result.p50Ms.toFixed(1)} ms`;
  const queued = `${result.queued} deliveries queued, stored at ${result.queuedPerSecond.toFixed(0)}/s`;
  return [
    figure(name, `${sent} arrive`, arrived, "arrived", arrived === sent, how),
    figure(`${name}, p99`, "≤ 100 ms", p99Ms, "ms", p99Ms <= 100, how),
    figure(`${name}, dispatcher's most RSS`, "≤ 300 MB", peakRssMiB * 1.048576, "MB", peakRssMiB <= 286, queued),
  ];
};

const historyRows = 1_000_000;

const measureList = async (): Promise<Figure[]> => {
  const results = await listOfDeliveries(historyRows);
  return results.map(({ filter, p95Ms, rows }) => {
    const how = `1 endpoint with ${historyRows} deliveries, 200 pages one after another, ${rows} rows read`;
    return figure(`webhooks, list of deliveries, ${filter}, p95`, "< 100 ms", p95Ms, "ms", p95Ms < 100, how);
  });
};

/** What one request costs its sender; beside it, in the same run, what it would cost without guard, deadline and bound. */
const measureOutgoing = async (): Promise<Figure[]> => {
  const ours = await benchOutgoing();
  const bare = await benchOutgoing({ variant: "node:http" });
  const how = `of the sending process; ${ours.perSecond.toFixed(0)}/s; bare node:http ${bare.cpuUsPerRequest.toFixed(0)} µs`;
  const { cpuUsPerRequest: cpuUs } = ours;
  return [figure("outgoing request, CPU", "≤ 60 µs", cpuUs, "µs", cpuUs <= 60, how)];
};

/** Events from `POST /events` to their endpoints; every program and store is counted, the receiver is not. */
export const webhooks: Measurements = {
  "webhooks-one": () => measureThroughput("webhooks, 1 endpoint", one, { perSecond: 2_000, cpuUs: 380 }),
  "webhooks-hundred": () =>
    measureThroughput("webhooks, 100 events a request", { ...one, perRequest: 100 }, { perSecond: 5_000, cpuUs: 250 }),
  "webhooks-turns": measureInTurn,
  "webhooks-fanout": () =>
    measureThroughput(
      "webhooks, 200 events × 100 endpoints",
      { ...one, events: 200, endpointsPerName: 100 },
      { perSecond: 10_500, cpuUs: 350 },
    ),
  "webhooks-latency": measureLatency,
  "webhooks-hanging": () => measureHanging({ endpoints: 20, queued: 1_000 }),
  "webhooks-million": () => measureHanging({ endpoints: 100, queued: 10_000 }),
  "webhooks-list": measureList,
  outgoing: measureOutgoing,
};
