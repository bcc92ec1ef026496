import { cpuUs } from "../../dev/processes/usage.ts";
import { seedTenant } from "../support/rows/fixtures.ts";
import type { SystemProgram } from "../support/system/system.ts";
import { startOtlpReceiver } from "../support/tracing/receiver.ts";
import { anEvent, eventsUrl } from "../support/webhooks/traffic.ts";
import { atMost, type Figure } from "./figures/figure.ts";
import type { Measurement, Measurements } from "./measure-all.ts";
import { type Load, runLoad } from "./messages/load.ts";

const whole = { requests: 30_000, warmUp: 10_000 };
const short: typeof whole = { requests: 200, warmUp: 50 };
const connections = 32;
const mostAllowed = 0.01; // of the requests that are to be refused for their rate: one a second has a token

const measureRefused: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system }) => {
    const apiserver = await system.start("apiserver");
    const slow = await seedTenant(system.db, { plan: { _id: "bench_slow", api_rps: 1 } });
    const size = isShort ? short : whole;
    for (const [status, path, token] of [
      [401, "/v1/notifications", "hs_unknown"],
      [404, "/v1/nothing", system.token],
      [429, "/v1/notifications", slow.token],
    ] as const) {
      const load = { url: `${apiserver.url}${path}`, status, headers: bearer(token), body: () => "" };
      tell(await cpuFigure(`refused with ${status}`, 90, apiserver, { ...load, ...size }));
    }
  });

const measureEvents: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system }) => {
    const apiserver = await system.start("apiserver");
    const load = { url: eventsUrl(system, apiserver), status: 202, headers: bearer(system.token), body: eventBody() };
    tell(await cpuFigure("one event accepted", 300, apiserver, { ...load, ...(isShort ? short : whole) }));
  });

/**
 * What traces cost, of the same requests: apiservers in turns, so that what else the machine does falls on each alike. All have
 * loaded the SDK: the larger heap is collected more rarely, which saves more than a hundredth of traces costs.
 */
const measureTraces: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system }) => {
    const receiver = await startOtlpReceiver();
    const traced = (ratio: string) => ({ HERALD_OTLP_ENDPOINT: receiver.url, HERALD_TRACE_RATIO: ratio });
    const variants = [
      { apiserver: await system.start("apiserver", traced("0")), us: 0 },
      { apiserver: await system.start("apiserver", traced("0.01")), us: 0, what: "1 % of them traced", most: 105 },
      { apiserver: await system.start("apiserver", traced("1")), us: 0, what: "all of them traced", most: 130 },
    ];
    const size = isShort ? { warmUp: 20, requests: 50 } : { warmUp: 2_000, requests: 10_000 };
    const body = eventBody();
    for (let turn = 0; turn < (isShort ? 1 : variants.length * 2); turn++) {
      const inOrder = variants.map((_, i) => variants[(i + turn) % variants.length]); // each is first as often
      for (const one of inOrder.filter((known) => known !== undefined)) {
        const load = { url: eventsUrl(system, one.apiserver), status: 202, headers: bearer(system.token), body };
        one.us += (await cpuFigure("event", 0, one.apiserver, { ...load, ...size })).value;
      }
    }
    await receiver.stop();
    const how =
      "CPU of the apiserver for one event accepted, of that with none of them traced, in turns in the same run";
    const [none, ...others] = variants;
    for (const { us, what = "", most = 0 } of others)
      tell({ name: `events, ${what}`, reach: atMost(most), value: (100 * us) / (none?.us ?? 1), unit: "%", how });
  });

const bearer = (token: string): Load["headers"] => ({ authorization: `Bearer ${token}` });

/** Each call gives another event, whatever its number: those of the warm-up are no repeats. */
const eventBody = (): Load["body"] => {
  let n = 0;
  return () => JSON.stringify({ events: [anEvent("bench", n++)] });
};

/** The apiserver's CPU for each request of a load, with what it does after the reply. */
const cpuFigure = async (
  what: string,
  mostUs: number,
  apiserver: SystemProgram,
  { warmUp, ...load }: Omit<Load, "connections"> & { warmUp: number },
): Promise<Figure> => {
  await runLoad({ ...load, connections, requests: warmUp });
  const before = cpuUs(apiserver.pid());
  const { failures } = await runLoad({ ...load, connections, requests: load.requests });
  const us = (cpuUs(apiserver.pid()) - before) / load.requests;
  const others = Object.values(failures).reduce((sum, count) => sum + count, 0);
  if (others > load.requests * mostAllowed + 1)
    throw new Error(`answers other than ${load.status}: ${JSON.stringify(failures)}`);
  const how = `${load.requests} requests over ${connections} kept connections`;
  return { name: `${what}, apiserver's CPU`, reach: atMost(mostUs), value: us, unit: "µs", how };
};

/** What single requests cost the apiserver. */
export const requests: Measurements = {
  refused: measureRefused,
  events: measureEvents,
  traces: measureTraces,
};
