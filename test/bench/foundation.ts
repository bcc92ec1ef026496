import { splitOf } from "./cpu.ts";
import { compare, withOneDispatcher } from "./figures/compare.ts";
import { atLeast, atMost, type Figure } from "./figures/figure.ts";
import { idle } from "./idle.ts";
import type { Measurement, Measurements } from "./measure-all.ts";
import { accept } from "./messages/accept.ts";
import { benchApnsSender } from "./messages/apns-sender.ts";
import { type BlastResult, blast } from "./messages/blast.ts";
import { measureEmail } from "./messages/email-sender.ts";
import { measureActivityBroadcast, measureActivityUpdates, measureAndroidUpdates } from "./messages/live-activities.ts";
import { pushChaos } from "./messages/push-chaos.ts";
import { benchPushSender } from "./messages/push-senders.ts";
import { benchTextSender } from "./messages/text-sender.ts";
import { measureTimers } from "./messages/timers.ts";
import { benchApns2, type PeerResult } from "./peers/apns2.ts";
import { startPrograms } from "./programs.ts";
import type { Round } from "./servers.ts";

const whole = {
  accepts: { requests: 6_000, warmUp: 500 },
  pushes: { pushes: 50_000, warmUp: 5_000 },
  texts: { messages: 20_000, warmUp: 3_000 },
  chaos: 200_000,
  blast: { recipients: 100_000, warmUp: 5_000 },
  moreDispatchers: [2, 4],
  settleMs: 10_000,
};
const short: typeof whole = {
  accepts: { requests: 100, warmUp: 20 },
  pushes: { pushes: 500, warmUp: 100 },
  texts: { messages: 200, warmUp: 50 },
  chaos: 1_000,
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

const pushProviders = [
  ["apns", "APNs"],
  ["fcm", "FCM"],
  ["hms", "Push Kit"],
] as const;

const measureSender: Measurement = async (round, tell) => {
  const { pushes } = sizeOf(round);
  const { cpuUsPerPush: bare } = await benchApnsSender({ ...pushes, variant: "node:http2" });
  const how = `${pushes.pushes} pushes over TLS; node:http2 alone in the same run: ${bare.toFixed(1)} µs`;
  const peer = await benchApns2(pushes);
  for (const [provider, name] of pushProviders) {
    const { cpuUsPerPush } = await benchPushSender(provider, pushes);
    tell({ name: `${name} sender, CPU a push`, reach: atMost(12), value: cpuUsPerPush, unit: "µs", how });
    if (peer !== null) tell(besidePeer(`${name} sender`, cpuUsPerPush, peer));
  }
};

const besidePeer = (name: string, cpuUs: number, { cpuUsPerPush }: PeerResult): Figure => {
  const how = `${eachPush(cpuUs)} of Herald's, ${eachPush(cpuUsPerPush)} of Go's apns2 in the same run`;
  return {
    name: `${name} beside Go's apns2`,
    reach: atMost(33.3),
    value: (100 * cpuUs) / cpuUsPerPush,
    unit: "%",
    how,
  };
};
const eachPush = (cpuUs: number): string => `${cpuUs.toFixed(1)} µs CPU a push`;

const measureWebPush: Measurement = async (round, tell) => {
  const { pushes } = sizeOf(round);
  const { cpuUsPerPush, perSecond } = await benchPushSender("webPush", pushes);
  const how = `${pushes.pushes} pushes over HTTP/2, each encrypted for its browser; ${perSecond.toFixed(0)}/s at once`;
  tell(
    { name: "web push sender, CPU a push", reach: atMost(200), value: cpuUsPerPush, unit: "µs", how },
    { name: "web push sender, a core", reach: atLeast(4_500), value: 1e6 / cpuUsPerPush, unit: "/s", how },
  );
};

const measureTexts: Measurement = async (round, tell) => {
  const { texts } = sizeOf(round);
  for (const channel of ["sms", "rcs", "whatsapp"] as const) {
    const { cpuUs, perSecond } = await benchTextSender({ ...texts, channel });
    const how = `${texts.messages} messages over TLS, 32 under way, ${perSecond.toFixed(0)}/s`;
    const name = channel === "whatsapp" ? "WhatsApp" : channel.toUpperCase();
    tell({ name: `${name} sender, CPU a message`, reach: atMost(150), value: cpuUs, unit: "µs", how });
  }
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
  round.withInstallation(({ startOwn }) =>
    round.withCluster(async ({ kubeconfig }) => {
      const { settleMs } = sizeOf(round);
      for (const { program, startUs, rssMiB } of await idle(startOwn, kubeconfig, settleMs)) {
        const cpu = "until it is ready, with its compiled code";
        tell({ name: `${program}, CPU of a start`, reach: atMost(400_000), value: startUs, unit: "µs", how: cpu });
        const how = `${settleMs / 1_000} s after its start`;
        tell({ name: `${program}, idle RSS`, reach: atMost(110), value: rssMiB, unit: "MiB", how });
      }
    }),
  );

/** Sending to devices, and programs at rest. */
export const foundation: Measurements = {
  accept: measureAccept,
  sender: measureSender,
  email: measureEmail,
  texts: measureTexts,
  "web-push": measureWebPush,
  "push-chaos": async (round, tell) => tell(...(await pushChaos(sizeOf(round).chaos))),
  blast: measureBlast,
  "blast-slow": measureSlowBlast,
  "live-activity-updates": measureActivityUpdates,
  "live-activity-updates-android": measureAndroidUpdates,
  "live-activity-broadcast": measureActivityBroadcast,
  timers: measureTimers,
  idle: measureIdle,
};
