import { splitOf } from "./cpu.ts";
import { compare, withOneDispatcher } from "./figures/compare.ts";
import { atLeast, atMost, type Figure } from "./figures/figure.ts";
import { idle } from "./idle.ts";
import type { Measurement, Measurements } from "./measure-all.ts";
import { accept } from "./messages/accept.ts";
import { benchApnsSender } from "./messages/apns-sender.ts";
import { type BlastResult, blast } from "./messages/blast.ts";
import { startPrograms } from "./programs.ts";
import type { Round } from "./servers.ts";

const whole = {
  accepts: { requests: 6_000, warmUp: 500 },
  pushes: { pushes: 50_000, warmUp: 5_000 },
  blast: { recipients: 100_000, warmUp: 5_000 },
  moreDispatchers: [2, 4],
  settleMs: 10_000,
};
const short: typeof whole = {
  accepts: { requests: 100, warmUp: 20 },
  pushes: { pushes: 500, warmUp: 100 },
  blast: { recipients: 500, warmUp: 20 },
  moreDispatchers: [2],
  settleMs: 500,
};
const sizeOf = ({ isShort }: Round): typeof whole => (isShort ? short : whole);

const measureAccept: Measurement = async (round, tell) => {
  tell(...(await acceptFigures(round, { name: "accepted", isDelivered: false, perSecond: 1_500, p99Ms: 60 })));
  const meanwhile = { name: "accepted while delivered", isDelivered: true, perSecond: 400, p99Ms: 100 };
  tell(...(await acceptFigures(round, meanwhile)));
};

type Accepting = { name: string; isDelivered: boolean; perSecond: number; p99Ms: number };

const acceptFigures = (round: Round, { name, isDelivered, ...reach }: Accepting): Promise<Figure[]> =>
  round.withInstallation(async ({ system }) => {
    const { accepts } = sizeOf(round);
    const apiserver = await system.start("apiserver");
    if (isDelivered) await system.start("dispatcher");
    const { perSecond, p99Ms, failures } = await accept(system, apiserver, accepts);
    if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
    const beside = isDelivered ? "a dispatcher sends them meanwhile" : "no dispatcher runs";
    const how = `${accepts.requests} messages of one recipient, 32 connections, ${beside}`;
    return [
      { name, reach: atLeast(reach.perSecond), value: perSecond, unit: "/s", how },
      { name: `${name}, p99`, reach: atMost(reach.p99Ms), value: p99Ms, unit: "ms", how },
    ];
  });

const measureSender: Measurement = async (round, tell) => {
  const { pushes } = sizeOf(round);
  const { cpuUsPerPush } = await benchApnsSender(pushes);
  const { cpuUsPerPush: bare } = await benchApnsSender({ ...pushes, variant: "node:http2" });
  const how = `${pushes.pushes} pushes over TLS; node:http2 alone in the same run: ${bare.toFixed(1)} µs`;
  tell({ name: "APNs sender, CPU a push", reach: atMost(40), value: cpuUsPerPush, unit: "µs", how });
};

const blastBy = async (round: Round, dispatchers: number, apnsDelayMs = 0): Promise<BlastResult> => {
  const pushUs = await round.pushUs();
  const result = await round.withInstallation(
    async ({ system, stores }) =>
      blast(system, await startPrograms({ system, stores }, dispatchers), sizeOf(round).blast),
    { apnsDelayMs },
  );
  return { ...result, pushUs };
};

const measureBlast: Measurement = async (round, tell) => {
  const one = await blastBy(round, 1);
  tell(...blastFigures(one));
  for (const dispatchers of sizeOf(round).moreDispatchers) {
    const more = await blastBy(round, dispatchers);
    tell(...compare(`end to end, ${dispatchers} dispatchers`, more, withOneDispatcher(one)));
  }
};

const blastFigures = ({ perSecond, cpuUs, recipients, peakRssMiB, small, pushUs }: BlastResult): Figure[] => {
  const how = `all of ${recipients} subscriptions`;
  const split = `a delivery: ${splitOf(cpuUs)}`;
  const beside = `${small.count} messages of one recipient, one each 100 ms, during the blast`;
  return [
    { name: "end to end", reach: atLeast(7_000), value: perSecond, unit: "/s", how, pushUs },
    { name: "end to end, CPU", reach: atMost(290), value: cpuUs.all, unit: "µs", how: split, pushUs },
    {
      name: "end to end, dispatcher's CPU",
      reach: atMost(90),
      value: cpuUs["dispatcher"] ?? NaN,
      unit: "µs",
      how: split,
      pushUs,
    },
    { name: "small message beside it, p99", reach: atMost(1_000), value: small.p99Ms, unit: "ms", how: beside },
    { name: "dispatcher, most RSS", reach: atMost(300), value: peakRssMiB, unit: "MiB", how },
  ];
};

/** A provider that takes its time leaves cores free, so that the rate itself says what a second dispatcher is worth. */
const measureSlowBlast: Measurement = async (round, tell) => {
  const delayMs = 50;
  const one = await blastBy(round, 1, delayMs);
  const two = await blastBy(round, 2, delayMs);
  const name = `end to end, ${delayMs} ms a push, 2 dispatchers`;
  const how = `${two.perSecond.toFixed(0)}/s; 1 dispatcher in the same run: ${one.perSecond.toFixed(0)}/s`;
  tell({ name, reach: atLeast(1.8), value: two.perSecond / one.perSecond, unit: "times", how });
};

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
  "blast-slow": measureSlowBlast,
  idle: measureIdle,
};
