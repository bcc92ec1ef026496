import { connect, type Socket } from "node:net";
import { newId } from "#core/domain/ids.ts";
import { inboxNotices } from "#core/queue/inbox-notices.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { inboxes } from "#core/storage/inbox/inboxes.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { peakRssMiB, rssMiB } from "../../../dev/processes/usage.ts";
import { anItem } from "../../support/api/inbox-items.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { quantiles } from "../messages/load.ts";
import { type BenchDevice, seedDevices } from "./people.ts";

const whole = { streams: 10_000, settleMs: 30_000 };
const short: typeof whole = { streams: 20, settleMs: 100 };
const opening = 100;
const batch = 100; // people in one write, as dispatchers do
const withinMs = 120_000;

/** As many people as streams, each with one: a message leaves an item in the inbox of all of them. */
export const measureStreams: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { streams: count, settleMs } = isShort ? short : whole;
    const apiserver = await startOwn("apiserver");
    const beforeMiB = rssMiB(apiserver.pid());
    const devices = await seedDevices(system, count);
    const nats = await connectNats({ url: stores.nats.url, name: "bench" });
    const notice = inboxNotices({ nats, subjects: subjects(system.prefix) });
    const openingMs = performance.now();
    const streams = await openAll(apiserver.url, devices);
    const openedS = (performance.now() - openingMs) / 1_000;
    await new Promise((resolve) => setTimeout(resolve, settleMs)); // heartbeats and checks go on meanwhile
    const openMiB = rssMiB(apiserver.pid());
    const beganMs = performance.now();
    const storedMs = await leaveAll(system, devices, notice);
    await until(() => streams.every((one) => one.toldMs !== null), withinMs);
    const lateMs = streams.map(({ toldMs }, n) => Math.max(0, (toldMs ?? Number.NaN) - (storedMs[n] ?? Number.NaN)));
    const allMs = Math.max(...streams.map(({ toldMs }) => toldMs ?? Number.NaN)) - beganMs;
    const peakMiB = peakRssMiB(apiserver.pid());
    for (const { socket } of streams) socket.destroy();
    await nats.close();
    await apiserver.kill();
    const how = `${count} people with a stream each; ${openMiB.toFixed(0)} MiB while they are quiet, ${beforeMiB.toFixed(0)} without any; opened in ${openedS.toFixed(0)} s`;
    const { p50Ms, p99Ms } = quantiles(lateMs);
    const times = `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms; the last ${(allMs / 1_000).toFixed(1)} s after the first write`;
    tell(
      {
        name: "open inbox streams, most memory of the apiserver",
        reach: atMost(500),
        value: peakMiB,
        unit: "MiB",
        how,
      },
      {
        name: "an item at all open streams, after it is stored",
        reach: atMost(2_000),
        value: Math.max(...lateMs),
        unit: "ms",
        how: `${count} items, stored ${batch} at once; ${times}`,
      },
    );
  });

type Stream = { socket: Socket; toldMs: number | null };

const openAll = async (url: string, devices: readonly BenchDevice[]): Promise<Stream[]> => {
  const streams: Stream[] = [];
  for (let from = 0; from < devices.length; from += opening)
    streams.push(
      ...(await Promise.all(devices.slice(from, from + opening).map((device) => open(new URL(url), device)))),
    );
  return streams;
};

/** Resolves with the first event; notes when an item comes. */
const open = async ({ hostname, port }: URL, { headers }: BenchDevice): Promise<Stream> => {
  const { promise: isOpen, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  const stream: Stream = { socket, toldMs: null };
  const said = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /sdk/v1/inbox/stream HTTP/1.1\r\nHost: bench\r\n${said.join("")}\r\n`);
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    if (text.includes('"items":[{')) stream.toldMs ??= performance.now();
    else if (text.includes("event: inbox")) resolve();
    else if (!text.startsWith("HTTP/1.1 200") && text.startsWith("HTTP/")) reject(new Error(text.slice(0, 200)));
  });
  socket.on("error", reject);
  await isOpen;
  return stream;
};

/** Stores an item for each; gives when that of each was stored. */
const leaveAll = async (
  { db }: Pick<System, "db">,
  devices: readonly BenchDevice[],
  notice: (userIds: readonly string[]) => void,
): Promise<number[]> => {
  const { add } = inboxes(db);
  const messageId = newId("message", new Date());
  const storedMs: number[] = [];
  for (let from = 0; from < devices.length; from += batch) {
    const some = devices.slice(from, from + batch);
    const now = new Date();
    const items = some.map((device) => anItem(device, "For all", now, messageId));
    const [first] = some;
    if (first === undefined) break;
    await add(ofRow(first.subscription), { messageId, items, most: 1_000, now });
    notice(some.map(({ subscription }) => subscription.user_id));
    storedMs.push(...some.map(() => performance.now()));
  }
  return storedMs;
};
