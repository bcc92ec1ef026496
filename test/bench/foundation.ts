import { atLeast, atMost, type Figure } from "./figure.ts";
import { idle } from "./idle.ts";
import type { Measurement, Measurements } from "./measure-all.ts";
import { accept } from "./messages/accept.ts";
import { benchApnsSender } from "./messages/apns-sender.ts";
import { blast } from "./messages/blast.ts";
import type { Round } from "./servers.ts";

const whole = {
  accepts: { requests: 6_000, warmUp: 500 },
  pushes: { pushes: 50_000, warmUp: 5_000 },
  recipients: 100_000,
  settleMs: 10_000,
};
const short: typeof whole = {
  accepts: { requests: 100, warmUp: 20 },
  pushes: { pushes: 500, warmUp: 100 },
  recipients: 500,
  settleMs: 500,
};
const sizeOf = ({ isShort }: Round): typeof whole => (isShort ? short : whole);

const measureAccept: Measurement = async (round, tell) => {
  tell(...(await acceptFigures(round, "accepted", false)));
  tell(...(await acceptFigures(round, "accepted while delivered", true)));
};

const acceptFigures = (round: Round, name: string, isDelivered: boolean): Promise<Figure[]> =>
  round.withInstallation(async ({ system }) => {
    const { accepts } = sizeOf(round);
    const apiserver = await system.start("apiserver");
    if (isDelivered) await system.start("dispatcher");
    const { perSecond, p99Ms, failures } = await accept(system, apiserver, accepts);
    if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
    const beside = isDelivered ? "a dispatcher sends them meanwhile" : "no dispatcher runs";
    const how = `${accepts.requests} messages of one recipient, 32 connections, ${beside}`;
    return [
      { name, reach: atLeast(400), value: perSecond, unit: "/s", how },
      { name: `${name}, p99`, reach: atMost(100), value: p99Ms, unit: "ms", how },
    ];
  });

const measureSender: Measurement = async (round, tell) => {
  const { pushes } = sizeOf(round);
  const { cpuUsPerPush } = await benchApnsSender(pushes);
  const { cpuUsPerPush: bare } = await benchApnsSender({ ...pushes, variant: "node:http2" });
  const how = `${pushes.pushes} pushes over TLS; node:http2 alone in the same run: ${bare.toFixed(1)} µs`;
  tell({ name: "APNs sender, CPU a push", reach: atMost(40), value: cpuUsPerPush, unit: "µs", how });
};

const measureBlast: Measurement = (round, tell) =>
  round.withInstallation(async ({ system }) => {
    const apiserver = await system.start("apiserver");
    const dispatcher = await system.start("dispatcher");
    const result = await blast(system, { apiserver, dispatcher, recipients: sizeOf(round).recipients });
    const how = `all of ${result.recipients} subscriptions, ${result.dispatcherCpuUs.toFixed(0)} µs CPU of the dispatcher each`;
    const beside = `${result.small.count} messages of one recipient, one each 100 ms, during the blast`;
    tell(
      { name: "end to end", reach: atLeast(5_000), value: result.perSecond, unit: "/s", how },
      {
        name: "small message beside it, p99",
        reach: atMost(1_000),
        value: result.small.p99Ms,
        unit: "ms",
        how: beside,
      },
      { name: "dispatcher, most RSS", reach: atMost(300), value: result.peakRssMiB, unit: "MiB", how },
    );
  });

const measureIdle: Measurement = (round, tell) =>
  round.withInstallation(({ system }) =>
    round.withCluster(async ({ kubeconfig }) => {
      const { settleMs } = sizeOf(round);
      for (const [program, mib] of Object.entries(await idle(system, kubeconfig, settleMs))) {
        const how = `${settleMs / 1_000} s after its start`;
        tell({ name: `${program}, idle RSS`, reach: atMost(150), value: mib, unit: "MiB", how });
      }
    }),
  );

/** Sending to devices, and programs at rest. */
export const foundation: Measurements = {
  accept: measureAccept,
  sender: measureSender,
  blast: measureBlast,
  idle: measureIdle,
};
