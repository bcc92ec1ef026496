import type { Db } from "mongodb";
import { judge } from "#core/domain/segments/judge.ts";
import type { Selection } from "#core/domain/segments/members.ts";
import { audience as audienceStore } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import { storedFacts } from "../../support/filters/facts.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { mostRssMiB, type Programs, startPrograms } from "../programs.ts";
import { answersWithin, planning } from "./asking.ts";
import { five, half, seedPeople, selectionOf } from "./people.ts";

const million = 1_000_000;
const whole = { people: 200_000 };
const short: typeof whole = { people: 1_000 };

/**
 * People with a device each, of whom half are in a segment: the audience read as a dispatcher reads it, counted as the job of
 * counts does, and sent to. What a million people take is reckoned from those who are there: all of it is one pass.
 */
const measureAudience: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { people } = isShort ? short : whole;
    await seedPeople(system, people);
    await measureReading(system, people, tell);
    await measurePrograms({ system, stores }, people, tell);
  });

/** The first push to a segment of half of a million people. */
const measureMillion: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const people = isShort ? short.people : million;
    await seedPeople(system, people);
    await measureFirstPush(system, await startPrograms({ system, stores }, 1), people, tell);
  });

/** By the functions alone. */
export const measureReading = async (system: System, people: number, tell: Tell): Promise<void> => {
  const scanned = await scan(system, everybody(system));
  const how = `${people} subscriptions, pages of 500`;
  tell({ name: "audience scan, all", reach: atLeast(100_000), value: people / scanned.cpuS, unit: "/s", how });
  const narrow = await scan(system, meant(system, selectionOf(five)));
  tell(
    { name: "audience scan, five conditions", reach: atLeast(60_000), value: people / narrow.cpuS, unit: "/s", how },
    { name: "audience scan, memory", reach: atMost(300), value: narrow.rssMiB, unit: "MiB", how: "of the process" },
  );
  const seconds = (took: number): number => (took * million) / people;
  for (const [name, filter] of [
    ["exact count of one condition", half],
    ["exact count of five conditions", five],
  ] as const) {
    const { tookS, users } = await countAll(system.db, system, selectionOf(filter));
    const of = `${users} of ${people} people took ${tookS.toFixed(2)} s, for 1,000,000`;
    tell({ name, reach: atMost(10), value: seconds(tookS), unit: "s", how: of });
  }
};

type Tell = Parameters<Measurement>[1];
type Bench = Pick<Parameters<typeof startPrograms>[0], "system" | "stores">;

/** By programs: one dispatcher, then two. */
export const measurePrograms = async (bench: Bench, people: number, tell: Tell): Promise<void> => {
  const programs = await startPrograms(bench, 1);
  await measureFirstPush(bench.system, programs, people, tell);
  const p95Ms = await answersWithin(bench.system, programs, five);
  const asked = "estimates of five conditions, one after another";
  tell({ name: "answer of a count, p95", reach: atMost(1_000), value: p95Ms, unit: "ms", how: asked });
  const alone = await planning(bench.system, programs, people);
  const second = await bench.system.start("dispatcher");
  const two = { ...programs, dispatchers: [...programs.dispatchers, second] };
  await planning(bench.system, two, people); // compiled code
  const both = await planning(bench.system, two, people);
  const how = `rows a second of dispatcher CPU: ${both.perSecond.toFixed(0)}; of one dispatcher: ${alone.perSecond.toFixed(0)}; ranges of each: ${both.ranges.join(" and ")}`;
  const value = (both.perSecond / alone.perSecond) * 100;
  tell({ name: "two dispatchers planning one message, beside one", reach: atLeast(80), value, unit: "%", how });
  tell({
    name: "audience planning, memory of a dispatcher",
    reach: atMost(300),
    value: mostRssMiB(two.dispatchers),
    unit: "MiB",
    how: "the most that one ever had, with what it sent",
  });
};

/** From the accept of a message to a segment of half of all people to its first delivery. */
const measureFirstPush = async (system: System, { apiserver }: Programs, people: number, tell: Tell): Promise<void> => {
  const headers = { authorization: `Bearer ${system.token}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const reply = await fetch(`${apiserver.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as { id: string }; // the reply of a create
  };
  await post(`/v1/apps/${system.app._id}/segments`, { name: "Half", filter: half });
  const [device] = await system.db.collection<SubscriptionRow>("subscriptions").find({}).limit(1).toArray();
  const first = { include_subscription_ids: [device?._id] };
  const send = (target: object) =>
    post("/v1/notifications", { app_id: system.app._id, contents: { en: "Hello" }, target });
  await system.ended((await send(first)).id, 60_000); // connections and compiled code
  const { id } = await send({ included_segments: ["Half"] });
  const firstMs = await firstDelivery(system, id);
  const message = await system.ended(id, 300_000);
  const how = `a segment of ${message.counts.sent} of ${people}, from the accept to the first delivery`;
  tell({ name: `first push to a segment, of ${people}`, reach: atMost(2_000), value: firstMs, unit: "ms", how });
};

const firstDelivery = async ({ db }: System, id: string): Promise<number> => {
  const message = await db.collection<{ _id: string; created_at: Date }>("messages").findOne({ _id: id });
  const first = { message_id: id, position: { $gt: "" } };
  let sentAt: Date | undefined;
  await until(async () => {
    sentAt = (await db.collection<DeliveryRow>("deliveries").findOne(first, { sort: { position: 1 } }))?.sent_at;
    return sentAt !== undefined;
  }, 60_000);
  return (sentAt?.getTime() ?? Number.NaN) - (message?.created_at.getTime() ?? Number.NaN);
};

const ofSystem = ({ tenantId, app }: System) => ({ tenantId, appId: app._id });
const stretch = { channel: "ios_push", status: "subscribed", testOnly: false } as const;

/** Reads the next page behind a subscription; null behind the last. */
type Pages = (after: string) => Promise<string | null>;

const everybody = (system: System): Pages => {
  const { page } = audienceStore(system.db);
  return async (after) => (await page({ ...ofSystem(system), ...stretch, after, limit: 500 })).at(-1) ?? null;
};

const meant = (system: System, selection: Selection): Pages => {
  const { page } = aimedSubscriptions(system.db, storedFacts(system.db));
  return async (after) => {
    const { rows } = await page({ ...ofSystem(system), ...stretch, after, limit: 500 }, selection);
    return rows.at(-1)?._id ?? null;
  };
};

/** CPU of this process, s, and its memory behind it. */
const scan = async (_: System, next: Pages): Promise<{ cpuS: number; rssMiB: number }> => {
  const before = process.cpuUsage();
  for (let after: string | null = ""; after !== null; ) after = await next(after);
  const { user, system } = process.cpuUsage(before);
  return { cpuS: (user + system) / 1e6, rssMiB: process.memoryUsage().rss / 2 ** 20 };
};

const countAll = async (db: Db, system: System, selection: Selection): Promise<{ tookS: number; users: number }> => {
  const beganMs = performance.now();
  const reading = { ...selection, query: selection.query("users") };
  let users = 0;
  for await (const page of segmentPeople(db, storedFacts(db)).all(
    ofSystem(system),
    reading,
    AbortSignal.timeout(300_000),
  ))
    users += page.filter((one) => judge(selection, one).isMember).length;
  return { tookS: (performance.now() - beganMs) / 1_000, users };
};

export const audience: Measurements = { audience: measureAudience, "audience-million": measureMillion };
