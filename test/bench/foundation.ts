import { type TestServers, testServers } from "../support/servers.ts";
import { type System, startSystem } from "../support/system.ts";
import { accept } from "./accept.ts";
import { benchApnsSender } from "./apns-sender.ts";
import { blast } from "./blast.ts";
import { idle } from "./idle.ts";
import { startSink } from "./sink.ts";
import { type Figure, figure, type Measurements } from "./table.ts";

const acceptRequests = 6_000;
const blastRecipients = 100_000;

/** Runs one measurement on an installation of its own. */
const onSystem = async <T>(run: (system: System, servers: TestServers) => Promise<T>): Promise<T> => {
  const servers = await testServers();
  const sink = await startSink();
  const system = await startSystem({ ...servers, apns: sink, plan: { api_rps: 100_000 } });
  try {
    return await run(system, servers);
  } finally {
    await system.stop();
    sink.stop();
  }
};

const measureAccept = async (): Promise<Figure[]> => [
  ...(await acceptFigures("accepted", false)),
  ...(await acceptFigures("accepted while delivered", true)),
];

const acceptFigures = (name: string, isDelivered: boolean): Promise<Figure[]> =>
  onSystem(async (system) => {
    const apiserver = await system.start("apiserver");
    if (isDelivered) await system.start("dispatcher");
    const { perSecond, p99Ms, failures } = await accept(system, apiserver, acceptRequests);
    if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
    const beside = isDelivered ? "a dispatcher sends them meanwhile" : "no dispatcher runs";
    const how = `${acceptRequests} messages of one recipient, 32 connections, ${beside}`;
    return [
      figure(name, "≥ 400/s", perSecond, "/s", perSecond >= 400, how),
      figure(`${name}, p99`, "< 100 ms", p99Ms, "ms", p99Ms < 100, how),
    ];
  });

const measureSender = async (): Promise<Figure[]> => {
  const { cpuUsPerPush } = await benchApnsSender();
  const { cpuUsPerPush: bare } = await benchApnsSender({ variant: "node:http2" });
  const how = `50,000 pushes over TLS; node:http2 alone in the same run: ${bare.toFixed(1)} µs`;
  return [figure("APNs sender, CPU a push", "≤ 40 µs", cpuUsPerPush, "µs", cpuUsPerPush <= 40, how)];
};

const measureBlast = (): Promise<Figure[]> =>
  onSystem(async (system) => {
    const apiserver = await system.start("apiserver");
    const dispatcher = await system.start("dispatcher");
    const result = await blast(system, { apiserver, dispatcher, recipients: blastRecipients });
    const how = `all of ${result.recipients} subscriptions, ${result.dispatcherCpuUs.toFixed(0)} µs CPU of the dispatcher each`;
    const beside = `${result.small.count} messages of one recipient, one each 100 ms, during the blast`;
    return [
      figure("end to end", "≥ 5000/s", result.perSecond, "/s", result.perSecond >= 5_000, how),
      figure("small message beside it, p99", "< 1000 ms", result.small.p99Ms, "ms", result.small.p99Ms < 1_000, beside),
      figure("dispatcher, most RSS", "≤ 300 MiB", result.peakRssMiB, "MiB", result.peakRssMiB <= 300, how),
    ];
  });

const measureIdle = (): Promise<Figure[]> =>
  onSystem(async (system, { kubeconfig }) => {
    const rss = await idle(system, kubeconfig);
    return Object.entries(rss).map(([program, mib]) =>
      figure(`${program}, idle RSS`, "≤ 150 MiB", mib, "MiB", mib <= 150, "10 s after its start"),
    );
  });

/** Sending to devices, and programs at rest. */
export const foundation: Measurements = {
  accept: measureAccept,
  sender: measureSender,
  blast: measureBlast,
  idle: measureIdle,
};
