import { setTimeout as sleep } from "node:timers/promises";
import { deliveryBatch } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { rssMiB } from "../../../dev/processes/usage.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { mostRssMiB, startPrograms } from "../programs.ts";
import type { Installation } from "../servers.ts";
import { latencies, send, smallOnesUntil } from "./blast.ts";
import { quantiles } from "./load.ts";
import { type Sent, seedPeople, withRules } from "./rules.ts";

const whole = { recipients: 1_000_000, killed: 200_000, warmUp: 2_000 };
const short: typeof whole = { recipients: 500, killed: 500, warmUp: 50 };
const withinMs = 900_000;

/** A message to a segment, with a template, quiet hours, a cap and two variants; small ones of another organisation beside it. */
const measureMillion: Measurement = (round, tell) =>
  round.withInstallation(async (made) => {
    const { recipients, warmUp } = round.isShort ? short : whole;
    const { apiserver, dispatchers, cpuUs } = await startPrograms(made, 1);
    const sent = await toSegment(made, apiserver, { recipients, warmUp });
    const before = cpuUs();
    const { id } = await send(sent.system, apiserver, sent.body);
    const ending = sent.system.ended(id, withinMs);
    const [small, memory] = await Promise.all([
      besideOf(made, apiserver, ending),
      memoryUntil(ending, dispatchers[0]?.pid() ?? 0),
    ]);
    const message = await ending;
    const each = cpuOfEach(before, cpuUs(), recipients);
    assertAllSent(message, recipients);
    const tookS = ((message.completed_at?.getTime() ?? Number.NaN) - message.created_at.getTime()) / 1_000;
    const how = `${recipients} recipients; ${splitOf(each)} µs of CPU each`;
    const parts = `MiB, one after another: ${memory.join(", ")}`;
    tell(
      {
        name: "the million, first push",
        reach: atMost(2_000),
        value: await firstMs(sent.system, message),
        unit: "ms",
        how,
      },
      { name: "the million, dispatcher", reach: atMost(100), value: each["dispatcher"] ?? Number.NaN, unit: "µs", how },
      { name: "the million, from accept to end", reach: atMost(150), value: tookS, unit: "s", how },
      {
        name: "the million, memory of the dispatcher",
        reach: atMost(300),
        value: mostRssMiB(dispatchers),
        unit: "MiB",
        how: parts,
      },
      {
        name: "the million, small messages beside it, p99",
        reach: atMost(1_000),
        value: small.p99Ms,
        unit: "ms",
        how: `${small.count} of another organisation, p50 ${small.p50Ms.toFixed(0)} ms`,
      },
    );
  });

/** The same, while a dispatcher of two is killed when a quarter, half and three quarters were sent. */
const measureKills: Measurement = (round, tell) =>
  round.withInstallation(async (made) => {
    const { killed: recipients, warmUp } = round.isShort ? short : whole;
    const apiserver = await made.startOwn("apiserver");
    const dispatchers = await Promise.all([made.startOwn("dispatcher"), made.startOwn("dispatcher")]);
    const sent = await toSegment(made, apiserver, { recipients, warmUp });
    const before = await made.apnsCounts();
    const { id } = await send(sent.system, apiserver, sent.body);
    const ending = sent.system.ended(id, withinMs);
    for (const [n, part] of [0.25, 0.5, 0.75].entries()) {
      await takenAtLeast(made, before.accepted + part * recipients, ending);
      await dispatchers[n % 2]?.kill();
      await dispatchers[n % 2]?.restart();
    }
    assertAllSent(await ending, recipients);
    const after = await made.apnsCounts();
    const missed = recipients - (after.keys - before.keys);
    const twice = after.repeated_keys - before.repeated_keys;
    const how = `${recipients} recipients, two dispatchers, one of them killed at 25, 50 and 75 %`;
    tell(
      { name: "kills of dispatchers, missed", reach: atMost(0), value: missed, unit: "pushes", how },
      { name: "kills of dispatchers, sent twice", reach: atMost(3 * deliveryBatch), value: twice, unit: "pushes", how },
    );
  });

/** An app whose people are all in a segment, and a message to them; warmed up. */
export const toSegment = async (
  made: Installation,
  apiserver: SystemProgram,
  { recipients, warmUp }: { recipients: number; warmUp: number },
): Promise<Sent> => {
  const { system, body } = await withRules(made, apiserver);
  await seedPeople(system, recipients);
  const filter = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };
  const reply = await fetch(`${apiserver.url}/v1/apps/${system.app._id}/segments`, {
    method: "POST",
    headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Gold", filter }),
  });
  if (!reply.ok) throw new Error(`segments: ${await reply.text()}`);
  const of = { app_id: system.app._id };
  const some = await system.db.collection<{ _id: string }>("subscriptions").find(of).limit(warmUp).toArray();
  const target = { include_subscription_ids: some.map(({ _id }) => _id) };
  await system.ended((await send(system, apiserver, { ...body, target })).id, withinMs);
  return { system, body: { ...body, target: { included_segments: ["Gold"] } } };
};

const assertAllSent = ({ counts }: MessageRow, recipients: number): void => {
  if (counts.sent !== recipients) throw new Error(`not all were sent to: ${JSON.stringify(counts)}`);
};

/** Small messages of another organisation until a message has ended. */
const besideOf = async (made: Installation, apiserver: SystemProgram, ending: Promise<unknown>) => {
  const system = { ...made.system, ...(await made.system.another()) };
  const lone = aSubscription({ tenant_id: system.tenantId, app_id: system.app._id, channel: "ios_push" });
  await seed(system.db, { subscriptions: [lone] });
  const one = { target: { include_subscription_ids: [lone._id] } };
  const ids = await smallOnesUntil(ending, () => send(system, apiserver, one));
  await Promise.all(ids.map((id) => system.ended(id, 60_000)));
  return { ...quantiles(await latencies(system, ids)), count: ids.length };
};

const memoryEveryMs = 15_000;

const memoryUntil = async (ending: Promise<unknown>, pid: number): Promise<number[]> => {
  const over = ending.then(() => true);
  const seen: number[] = [];
  for (let isOver = false; !isOver; isOver = await Promise.race([over, sleep(memoryEveryMs, false)]))
    seen.push(Math.round(rssMiB(pid)));
  return seen;
};

/** From the accept to the first delivery, ms. */
const firstMs = async ({ db }: System, { _id, created_at: acceptedAt }: MessageRow): Promise<number> => {
  const rows = db.collection<{ message_id: string; position: string; sent_at?: Date }>("deliveries");
  const first = await rows
    .find({ message_id: _id, position: { $gt: "" } })
    .sort({ position: 1 })
    .limit(100)
    .toArray();
  const times = first.flatMap(({ sent_at: at }) => (at === undefined ? [] : [at.getTime()]));
  return Math.min(...times) - acceptedAt.getTime();
};

const askEveryMs = 200;

/** Until APNs has taken so many, or the message has ended. */
const takenAtLeast = async (made: Installation, count: number, ending: Promise<unknown>): Promise<void> => {
  const over = ending.then(() => true);
  for (let isOver = false; !isOver; isOver = await Promise.race([over, sleep(askEveryMs, false)]))
    if ((await made.apnsCounts()).accepted >= count) return;
};

/** One message to a million. */
export const million: Measurements = { million: measureMillion, "million-kills": measureKills };
