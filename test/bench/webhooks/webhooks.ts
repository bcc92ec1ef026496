import { besideBusyCore } from "../cores.ts";
import { splitOf } from "../cpu.ts";
import { compare, comparedCpu, percent, withOneDispatcher } from "../figures/compare.ts";
import { atLeast, atMost, type Figure } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import type { Round } from "../servers.ts";
import { allOf, ofThousand } from "../statements.ts";
import { killDuring } from "./kill.ts";
import { type Hanging, type LatencyResult, latency, latencyBesideHanging } from "./latency.ts";
import { listOfDeliveries } from "./list.ts";
import { awayDuring } from "./outage.ts";
import { benchOutgoing } from "./outgoing.ts";
import type { Scenario } from "./publish.ts";
import { latencyBesideFlood } from "./tenants.ts";
import { type ThroughputResult, throughput, throughputOnOneCoreEach } from "./throughput.ts";

const oneEndpoint = { perRequest: 1, names: 1, endpointsPerName: 1, dispatchers: 1 };
const whole = {
  one: { ...oneEndpoint, events: 20_000, warmUp: 3_000 },
  fanOut: { events: 200, endpointsPerName: 100 },
  turns: { names: 100 },
  apps: { apps: 16 },
  moreDispatchers: [2, 4],
  kill: { events: 20_000, perRequest: 100, perSecond: 1_000, names: 100, dispatchers: 3 },
  outage: { afterEvents: 2_500, awayMs: 120_000 },
  besideOutage: { ...oneEndpoint, perSecond: 500, events: 92_500, warmUp: 3_000 },
  pace: { ...oneEndpoint, perSecond: 50, events: 1_500, warmUp: 200 },
  healthy: { ...oneEndpoint, perSecond: 20, events: 800, warmUp: 200 },
  hanging: { endpoints: 20, queued: 1_000 },
  flood: { events: 50_000, perRequest: 100, endpoints: 3, answerMs: 50 },
  besideFlood: { ...oneEndpoint, perSecond: 20, events: 400, warmUp: 200 },
  million: { endpoints: 100, queued: 10_000 },
  history: { deliveries: 1_000_000, pages: 200 },
  requests: { requests: 30_000, warmUp: 5_000 },
};
const short: typeof whole = {
  one: { ...oneEndpoint, events: 100, warmUp: 20 },
  fanOut: { events: 5, endpointsPerName: 20 },
  turns: { names: 20 },
  apps: { apps: 4 },
  moreDispatchers: [2],
  kill: { events: 80, perRequest: 20, perSecond: 100, names: 20, dispatchers: 3 },
  outage: { afterEvents: 5, awayMs: 100 },
  besideOutage: { ...oneEndpoint, perSecond: 50, events: 20, warmUp: 5 },
  pace: { ...oneEndpoint, perSecond: 50, events: 20, warmUp: 5 },
  healthy: { ...oneEndpoint, perSecond: 50, events: 20, warmUp: 5 },
  hanging: { endpoints: 2, queued: 10 },
  flood: { events: 200, perRequest: 10, endpoints: 3, answerMs: 50 },
  besideFlood: { ...oneEndpoint, perSecond: 50, events: 20, warmUp: 5 },
  million: { endpoints: 4, queued: 10 },
  history: { deliveries: 1_000, pages: 3 },
  requests: { requests: 300, warmUp: 50 },
};
const sizeOf = ({ isShort }: Round): typeof whole => (isShort ? short : whole);

type Reach = { perSecond: number; cpuUs: number };

const measureThroughput =
  (name: string, over: (size: typeof whole) => Partial<Scenario>, reach: Reach): Measurement =>
  async (round, tell) => {
    const size = sizeOf(round);
    const scenario = { ...size.one, ...over(size) };
    const one = await throughput(round, scenario);
    tell(...throughputFigures(name, one, reach));
    for (const dispatchers of size.moreDispatchers) {
      const more = await throughput(round, { ...scenario, dispatchers });
      tell(...besideOne(`${name}, ${dispatchers} dispatchers`, more, one));
    }
  };

/** What more dispatchers cost beside one in the same run: rate, CPU and commands to MongoDB. */
const besideOne = (name: string, more: ThroughputResult, one: ThroughputResult): Figure[] => {
  const owned = `partitions ${more.owned.join(", ")}; ${more.deferred} stored before they were sent`;
  const kinds = `for 1,000 deliveries: ${ofThousand(more.statements)}; 1 dispatcher: ${ofThousand(one.statements)}`;
  const value = percent(allOf(more.statements), allOf(one.statements));
  return [
    ...compare(name, more, withOneDispatcher(one)),
    { name: `${name}, commands`, reach: atMost(115), value, unit: "%", how: `${kinds}; ${owned}` },
  ];
};

const throughputFigures = (name: string, result: ThroughputResult, reach: Reach): Figure[] => {
  const { deliveries, perSecond, cpuUs, repeated, deferred, pushUs } = result;
  const published = `accepted at ${result.publishedPerSecond.toFixed(0)} events/s`;
  const memory = `dispatcher at most ${result.peakRssMiB.toFixed(0)} MiB`;
  const how = `${deliveries} deliveries, 32 publishers, 20 in flight an endpoint, ${published}, ${repeated} repeated, ${deferred} stored before they were sent; ${memory}`;
  const split = `a delivery: ${splitOf(cpuUs)}`;
  return [
    { name, reach: atLeast(reach.perSecond), value: perSecond, unit: "/s", how, pushUs },
    { name: `${name}, CPU`, reach: atMost(reach.cpuUs), value: cpuUs.all, unit: "µs", how: split, pushUs },
  ];
};

/** Beside the same work for one endpoint, in the same run. */
const measureInTurn: Measurement = async (round, tell) => {
  const { one, turns, moreDispatchers } = sizeOf(round);
  const name = "webhooks, 100 endpoints in turn";
  const alone = await throughput(round, one);
  const inTurn = await throughput(round, { ...one, ...turns });
  tell(...compare(name, inTurn, { with: alone, called: "1 endpoint", rate: 95, cpu: 120 }));
  const result = await latency(round, { ...one, ...turns, perSecond: 0.8 * inTurn.perSecond });
  const paces = `${paceOf(result)}; it took ${inTurn.perSecond.toFixed(0)}/s`;
  const how = `${paces}; p50 ${result.p50Ms.toFixed(1)} ms`;
  tell({ name: `${name}, p99`, reach: atMost(100), value: result.p99Ms, unit: "ms", how });
  for (const dispatchers of moreDispatchers) {
    const more = await throughput(round, { ...one, ...turns, dispatchers });
    tell(...besideOne(`${name}, ${dispatchers} dispatchers`, more, inTurn));
  }
};

/** What a busy machine costs: a dispatcher that falls behind should not pay more for each delivery. */
const measureBusy: Measurement = async (round, tell) => {
  if (round.isBusy) return; // there is nothing quiet to compare with
  const { one, fanOut } = sizeOf(round);
  const scenario = { ...one, ...fanOut };
  const quiet = await throughput(round, scenario);
  const busy = await besideBusyCore(() => throughput(round, scenario));
  const how = `${comparedCpu(busy, quiet, "quiet")}; ${busy.perSecond.toFixed(0)}/s, quiet ${quiet.perSecond.toFixed(0)}/s`;
  const value = percent(busy.cpuUs.all, quiet.cpuUs.all);
  tell({ name: "webhooks, 200 events × 100 endpoints, one core busy, CPU", reach: atMost(125), value, unit: "%", how });
};

/**
 * What a second dispatcher is worth where receiver and stores are elsewhere: each has a core of its own, and does in a
 * second what a second of its CPU is enough for. On two cores the rate itself would be that of everything beside them.
 */
const measureCores: Measurement = async (round, tell) => {
  const { one, fanOut } = sizeOf(round);
  const cpuUs = async (dispatchers: number): Promise<number> => {
    const { cpuUs: us } = await throughputOnOneCoreEach(round, { ...one, ...fanOut, dispatchers });
    return us["dispatcher"] ?? Number.NaN;
  };
  const [alone, ofTwo] = [await cpuUs(1), await cpuUs(2)];
  const rates = `deliveries in a second of a dispatcher's own CPU: ${(1e6 / alone).toFixed(0)}, of two ${(1e6 / ofTwo).toFixed(0)} each`;
  const how = `calculated: ${rates}; each on a core of its own, CPU of all else left out`;
  tell({
    name: "webhooks, 2 dispatchers on a core each",
    reach: atLeast(1.8),
    value: (2 * alone) / ofTwo,
    unit: "times",
    how,
  });
};

const mostStoredAtOnce = 500; // by dispatcher/webhooks/history/deliveries.ts

const measureKill: Measurement = async (round, tell) => {
  const { one, kill } = sizeOf(round);
  const result = await killDuring(round, { ...one, ...kill });
  const { lost, repeated, servedAgainSeconds } = result;
  const name = "webhooks, 1 of 3 dispatchers killed";
  const how = `during ${kill.events} deliveries to ${kill.names} endpoints at ${result.sentPerSecond.toFixed(0)}/s`;
  const batch = `${how}; one write stores ${mostStoredAtOnce} results at most`;
  const again = `${how}; until each endpoint got what was published after the kill`;
  tell(
    { name: `${name}, lost`, reach: atMost(0), value: lost, unit: "lost", how },
    { name: `${name}, repeated`, reach: atMost(mostStoredAtOnce), value: repeated, unit: "repeated", how: batch },
    { name: `${name}, all served again`, reach: atMost(15), value: servedAgainSeconds, unit: "s", how: again },
  );
};

const measureOutage: Measurement = async (round, tell) => {
  const { outage, besideOutage } = sizeOf(round);
  const result = await awayDuring(round, besideOutage, outage);
  const { lost, repeated, levelAgainSeconds, apiserverMiB, dispatcherMiB } = result;
  const name = `webhooks, JetStream away for ${outage.awayMs / 1000} s`;
  const how = `${besideOutage.events} events at ${result.sentPerSecond.toFixed(0)}/s`;
  const grown = ({ before, after }: { before: number; after: number }): string =>
    `${before.toFixed(0)} before, ${after.toFixed(0)} MiB at the end`;
  tell(
    { name: `${name}, lost`, reach: atMost(0), value: lost, unit: "lost", how },
    { name: `${name}, repeated`, reach: atMost(0), value: repeated, unit: "repeated", how },
    { name: `${name}, level again`, reach: atMost(60), value: levelAgainSeconds, unit: "s", how },
    {
      name: `${name}, dispatcher's most RSS`,
      reach: atMost(300),
      value: dispatcherMiB.after * 1.048576,
      unit: "MB",
      how: `dispatcher ${grown(dispatcherMiB)}; apiserver ${grown(apiserverMiB)}`,
    },
  );
};

const measureLatency: Measurement = async (round, tell) => {
  const { pace } = sizeOf(round);
  const rows = [
    { of: ", no ids", dispatchers: 1, hasIds: false },
    { of: "", dispatchers: 1 },
    { of: ", 3 dispatchers", dispatchers: 3 },
  ];
  for (const { of, ...scenario } of rows) {
    const result = await latency(round, { ...pace, ...scenario });
    const name = `webhooks, publish → arrival${of}`;
    const how = paceOf(result);
    tell(
      { name: `${name}, p50`, reach: atMost(3.5), value: result.p50Ms, unit: "ms", how },
      { name: `${name}, p99`, reach: atMost(8), value: result.p99Ms, unit: "ms", how },
    );
  }
};

const paceOf = ({ sent, sentPerSecond, repeated }: LatencyResult): string =>
  `${sent} events at ${sentPerSecond.toFixed(0)}/s, one a request, ${repeated} repeated`;

const measureHanging =
  (hangingOf: (size: typeof whole) => Hanging): Measurement =>
  async (round, tell) => {
    const size = sizeOf(round);
    const hanging = hangingOf(size);
    const result = await latencyBesideHanging(round, hanging, size.healthy);
    const { sent, arrived, p99Ms, peakRssMiB } = result;
    const name = `webhooks beside ${hanging.endpoints} × ${hanging.queued} that hang`;
    const how = `${paceOf(result)}; p50 ${result.p50Ms.toFixed(1)} ms`;
    const queued = `${result.queued} deliveries queued, stored at ${result.queuedPerSecond.toFixed(0)}/s`;
    tell(
      { name, reach: atLeast(sent), value: arrived, unit: "arrived", how },
      { name: `${name}, p99`, reach: atMost(50), value: p99Ms, unit: "ms", how },
      {
        name: `${name}, dispatcher's most RSS`,
        reach: atMost(300),
        value: peakRssMiB * 1.048576,
        unit: "MB",
        how: queued,
      },
    );
  };

const measureTenants: Measurement = async (round, tell) => {
  const { flood, besideFlood } = sizeOf(round);
  for (const dispatchers of [1, 2]) {
    const { alone, beside, floodSent } = await latencyBesideFlood(round, flood, { ...besideFlood, dispatchers });
    const size = `${flood.events} events, ${flood.perRequest} a request, for ${flood.endpoints} endpoints of ${flood.answerMs} ms`;
    const name = `webhooks beside a tenant with ${flood.events} queued, ${dispatchers} dispatchers`;
    const times = `p50 ${beside.p50Ms.toFixed(1)} ms; alone ${alone.p50Ms.toFixed(1)} and ${alone.p99Ms.toFixed(1)} ms`;
    const how = `${paceOf(beside)}; ${times}; beside ${size}, of which ${floodSent} requests were made by then`;
    tell(
      { name, reach: atLeast(beside.sent), value: beside.arrived, unit: "arrived", how },
      { name: `${name}, p99`, reach: atMost(1_000), value: beside.p99Ms, unit: "ms", how },
    );
  }
};

const measureList: Measurement = async (round, tell) => {
  const { history } = sizeOf(round);
  for (const { filter, p95Ms, rows } of await listOfDeliveries(round, history)) {
    const how = `1 endpoint with ${history.deliveries} deliveries, ${history.pages} pages one after another, ${rows} rows read`;
    tell({ name: `webhooks, list of deliveries, ${filter}, p95`, reach: atMost(100), value: p95Ms, unit: "ms", how });
  }
};

/** What one request costs its sender; beside it, in the same run, what it would cost without guard, deadline and bound. */
const measureOutgoing: Measurement = async (round, tell) => {
  const { requests } = sizeOf(round);
  const ours = await benchOutgoing(requests);
  const bare = await benchOutgoing({ ...requests, variant: "node:http" });
  const how = `of the sending process; ${ours.perSecond.toFixed(0)}/s; bare node:http ${bare.cpuUsPerRequest.toFixed(0)} µs`;
  const { cpuUsPerRequest: cpuUs } = ours;
  tell({ name: "outgoing request, CPU", reach: atMost(60), value: cpuUs, unit: "µs", how });
};

/** Events from `POST /events` to their endpoints; every program and store is counted, the receiver is not. */
export const webhooks: Measurements = {
  "webhooks-one": measureThroughput("webhooks, 1 endpoint", () => ({}), { perSecond: 2_500, cpuUs: 600 }),
  "webhooks-apps": measureThroughput("webhooks, 16 apps in turn", ({ apps }) => apps, { perSecond: 2_500, cpuUs: 600 }),
  "webhooks-backlog": measureThroughput(
    "webhooks, 16 apps, 100 events a request",
    ({ apps }) => ({ ...apps, perRequest: 100 }),
    {
      perSecond: 7_000,
      cpuUs: 220,
    },
  ),
  "webhooks-hundred": measureThroughput("webhooks, 100 events a request", () => ({ perRequest: 100 }), {
    perSecond: 7_000,
    cpuUs: 220,
  }),
  "webhooks-turns": measureInTurn,
  "webhooks-fanout": measureThroughput("webhooks, 200 events × 100 endpoints", ({ fanOut }) => fanOut, {
    perSecond: 8_000,
    cpuUs: 220,
  }),
  "webhooks-busy": measureBusy,
  "webhooks-cores": measureCores,
  "webhooks-kill": measureKill,
  "webhooks-outage": measureOutage,
  "webhooks-latency": measureLatency,
  "webhooks-hanging": measureHanging(({ hanging }) => hanging),
  "webhooks-tenants": measureTenants,
  "webhooks-million": measureHanging(({ million }) => million),
  "webhooks-list": measureList,
  outgoing: measureOutgoing,
};
