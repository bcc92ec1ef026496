import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Why } from "#core/schema/why/why.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";
import { send } from "./blast.ts";
import { quantiles } from "./load.ts";
import { withRules } from "./rules.ts";

const whole = { people: 1_000_000, asked: 1_000 };
const short: typeof whole = { people: 600, asked: 30 };
const withinMs = 900_000;
const betweenMs = 25; // an app may ask 50 times a second
const suppressedAtOnce = 1_000;

/** What keeps a message from somebody, by the last digit of their number; to all others it is sent. */
const causes: Readonly<
  Record<number, (n: number) => Partial<{ user: Partial<UserRow>; device: Partial<SubscriptionRow> }>>
> = {
  1: () => ({ user: { tags: { plan: "silver" } } }),
  2: () => ({ user: { language: "fr" } }),
  3: () => ({ device: { status: "unsubscribed" } }),
  4: () => ({ device: { status: "invalid" } }),
  5: (n) => ({ device: { channel: "email", token: `customer-${n}@example.com` } }),
  6: () => ({}), // they are put on the suppression list
};
const isSuppressed = (n: number): boolean => n % 10 === 6 && n < 10 * suppressedAtOnce;
const isMissed = (n: number): boolean => (n % 10 === 6 ? isSuppressed(n) : causes[n % 10] !== undefined);
const nameOf = (n: number): string => `customer-${n}`;

/** A message to a segment of many people, whom six things keep it from; then why it did not reach some of them. */
const measureWhy: Measurement = (round, tell) =>
  round.withInstallation(async (made) => {
    const { people, asked } = round.isShort ? short : whole;
    const { apiserver } = await startPrograms(made, 1);
    const { system, body } = await withRules(made, apiserver);
    await seedPeople(system, people);
    await post(system, apiserver, "segments", { name: "Gold", filter: { all: [is("tags.plan", "gold")] } });
    const entries = Array.from({ length: people }, (_, n) => n).filter(isSuppressed);
    const list = entries.map((n) => ({ external_id: nameOf(n), reason: "manual" }));
    await post(system, apiserver, "suppressions", { entries: list });
    const target = { included_segments: ["Gold"], filters: { all: [is("language", "de")] } };
    const { id } = await send(system, apiserver, { ...body, target });
    const message = await system.ended(id, withinMs);
    const tookMs: number[] = [];
    let unknown = 0;
    for (let n = 0; n < asked; n++) {
      const answer = await explained(system, apiserver, `${id}/why?external_id=${nameOf(someMissed(people))}`);
      tookMs.push(answer.tookMs);
      unknown += answer.isKnown ? 0 : 1;
      await sleep(Math.max(0, betweenMs - answer.tookMs));
    }
    const { p50Ms, p99Ms } = quantiles(tookMs);
    const how = `${asked} of ${people} whom a message to a segment did not reach, ${message.counts.sent} were sent to; p50 ${p50Ms.toFixed(0)} ms`;
    tell(
      { name: "why it did not arrive, p99", reach: atMost(200), value: p99Ms, unit: "ms", how },
      { name: "why it did not arrive, unknown", reach: atMost(0), value: unknown, unit: "people", how },
    );
  });

const is = (field: string, value: string) => ({ field, op: "eq", value });

const someMissed = (people: number): number => {
  for (;;) {
    const n = randomInt(people);
    if (isMissed(n)) return n;
  }
};

const seededAtOnce = 20_000;

const seedPeople = async ({ tenantId, app, db }: System, people: number): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const before = new Date(Date.now() - 3_600_000);
  for (let from = 0; from < people; from += seededAtOnce) {
    const some = Array.from({ length: Math.min(seededAtOnce, people - from) }, (_, i) => {
      const n = from + i;
      const { user = {}, device = {} } = causes[n % 10]?.(n) ?? {};
      const tags = { plan: "gold", name: nameOf(n) };
      const one = aUser({ ...of, external_id: nameOf(n), tags, language: "de", updated_at: before, ...user });
      one.alias_keys = [`user_id:${one._id}`, `external_id:${nameOf(n)}`];
      const token = randomBytes(32).toString("hex");
      return {
        user: one,
        device: aSubscription({ ...of, user_id: one._id, external_id: nameOf(n), token, ...device }),
      };
    });
    await seed(db, { users: some.map(({ user }) => user), subscriptions: some.map(({ device }) => device) });
  }
};

const post = async ({ app, token }: System, { url }: SystemProgram, path: string, body: object): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const reply = await fetch(`${url}/v1/apps/${app._id}/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
};

/** An answer is known when a gate is named for each subscription, and none of those before it is unknown. */
const explained = async ({ app, token }: System, { url }: SystemProgram, path: string) => {
  const beganMs = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const reply = await fetch(`${url}/v1/apps/${app._id}/notifications/${path}`, { headers });
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
  const { recipients } = (await reply.json()) as Why; // what the operation promises
  const tookMs = performance.now() - beganMs;
  const isKnown =
    recipients.length > 0 &&
    recipients.every(({ decided_by: by, gates }) => by !== null && gates.every(({ verdict }) => verdict !== "unknown"));
  return { tookMs, isKnown };
};

export const why: Measurements = { why: measureWhy };
