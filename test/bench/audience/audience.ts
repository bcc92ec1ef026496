import { randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { type Selection, segmentMembers } from "#core/domain/segments/members.ts";
import { audience as audienceStore } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import { storedFacts } from "../../support/filters/facts.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";

const million = 1_000_000;
const whole = { people: 200_000 };
const short: typeof whole = { people: 1_000 };
const seededAtOnce = 2_000;

/**
 * People with a device each, of whom half are in a segment: the audience read as a dispatcher reads it, counted as the job of
 * counts does, and sent to. What a million people take is reckoned from those who are there: all of it is one pass.
 */
const measureAudience: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { people } = isShort ? short : whole;
    await seedPeople(system, people);
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
    await measureFirstPush({ system, stores }, people, tell);
  });

/** From the accept of a message to a segment of half of all people to its first delivery. */
const measureFirstPush = async (
  { system, stores }: Pick<Parameters<typeof startPrograms>[0], "system" | "stores">,
  people: number,
  tell: Parameters<Measurement>[1],
): Promise<void> => {
  const { apiserver } = await startPrograms({ system, stores }, 1);
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
  tell({ name: "first push to a segment", reach: atMost(2_000), value: firstMs, unit: "ms", how });
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

const half = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };
const five = {
  all: [
    ...half.all,
    { field: "language", op: "eq", value: "de" },
    { field: "country", op: "in", value: ["DE", "AT", "CH"] },
    { field: "last_active_at", op: "within_last", value: { amount: 30, unit: "days" } },
    { field: "device.os_version", op: "gte", value: "13.0" },
  ],
};

const selectionOf = (filter: object): Selection => segmentMembers(new Map(), new Date()).ofFilter(parseFilter(filter));

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

const seedPeople = async ({ db, tenantId, app }: System, people: number): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const dayMs = 86_400_000;
  for (let from = 0; from < people; from += seededAtOnce) {
    const users = Array.from({ length: Math.min(seededAtOnce, people - from) }, (_, i): UserRow => {
      const n = from + i;
      const last_active_at = new Date(Date.now() - (n % 60) * dayMs);
      const tags = { plan: n % 2 === 0 ? "gold" : "free", orders: String(n % 40) };
      const country = ["DE", "AT", "CH", "FR", "US"][n % 5] ?? "DE";
      return aUser({ ...of, tags, last_active_at, country, language: n % 3 === 0 ? "en" : "de" });
    });
    const subscriptions = users.map(({ _id: user_id }, i) => {
      const device = { model: "iPhone15,2", os_version: `1${i % 8}.${i % 5}`, app_version: `2.${i % 30}.0` };
      return aSubscription({ ...of, user_id, token: randomBytes(32).toString("hex"), device });
    });
    await seed(db, { users, subscriptions });
  }
};

export const audience: Measurements = { audience: measureAudience };
