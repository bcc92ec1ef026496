import { setTimeout as sleep } from "node:timers/promises";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { dayOf } from "#core/domain/events/days.ts";
import { type DeliveryCounterRow, deliveryCounterCollection } from "#core/storage/analytics/delivery-counters.ts";
import { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { aMail } from "../../support/callbacks/deliveries.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { quantiles } from "../messages/load.ts";
import { startPrograms } from "../programs.ts";
import { seedDays, seedMessages, seedOutcomes, seedPeople } from "./seed.ts";

const whole = {
  days: 400,
  cells: 6,
  perCell: 44,
  names: 20,
  perHour: 53,
  messages: 1_000,
  deliveries: 5_000,
  people: 5_000,
  reads: 120,
  fresh: 20,
};
const short: typeof whole = { ...whole, days: 20, names: 3, messages: 20, people: 20, reads: 3, fresh: 2 };
const paceMs = 210; // an app may ask five times a second

/** Answers of 400 days, whose quarters of an hour all have deliveries; and how soon a change is in them. */
const measureAnalytics: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const size = isShort ? short : whole;
    const deliveries = await seedDays(system, size);
    const names = await seedOutcomes(system, size);
    const messageId = await seedMessages(system, size);
    await seedPeople(system, { ...size, names: names.slice(0, 3) });
    const { apiserver } = await startPrograms({ system, stores }, 1);
    const events = size.names * size.days * 24 * size.perHour;
    const how = `${size.reads} one after another, no two alike, of ${size.days} days with ${deliveries} deliveries and ${events} events`;
    const kept = `${size.reads} one after another, once counted, of ${size.days} days`;
    const counted = `${how}, once the audience was counted`;
    for (const [name, question] of Object.entries(questionsOf({ names, messageId }))) {
      const tookMs = await timesOf(system, apiserver, question, size);
      const { p50Ms, p99Ms } = quantiles(tookMs);
      const spread = `p50 ${p50Ms.toFixed(0)} ms, slowest ${(tookMs.at(-1) ?? 0).toFixed(0)} ms`;
      tell({
        name: `analytics, ${name}, p99`,
        reach: atMost(50),
        value: p99Ms,
        unit: "ms",
        how: `${spread}; ${question.isKept ? kept : question.hasPeople ? counted : how}`,
      });
    }
    const value = await freshness(system, size.fresh);
    const freshHow = `${size.fresh} one after another, from the stored delivery to the kept counter`;
    tell({ name: "analytics, freshness, slowest", reach: atMost(5_000), value, unit: "ms", how: freshHow });
  });

/**
 * `isKept`: the same question each time, which a job has answered; answers to other questions are kept in memory.
 * `hasPeople`: a job counts people for it, whatever the range is; it is measured once that has ended.
 */
type Asked = { path: string; hasRange?: boolean; isKept?: boolean; hasPeople?: boolean };

const questionsOf = ({ names, messageId }: { names: readonly string[]; messageId: string }): Record<string, Asked> => ({
  overview: { path: "overview?timezone=Asia/Kolkata", hasPeople: true },
  channels: { path: "channels?timezone=UTC" },
  failures: { path: "failures?timezone=UTC" },
  "timeseries by day in Berlin": { path: "timeseries?metric=sent,open_rate&timezone=Europe/Berlin" },
  "timeseries by day in Kolkata, by channel": {
    path: "timeseries?metric=sent&group_by=channel&timezone=Asia/Kolkata",
  },
  "timeseries by hour of the week": {
    path: "timeseries?metric=sent&interval=hour_of_week&timezone=Europe/Berlin",
  },
  "a page of messages": { path: "messages?timezone=UTC" },
  "1,000 messages by opens": { path: "messages?timezone=UTC&sort=-opened&limit=100" },
  "messages by template": { path: "messages?timezone=UTC&group_by=template_id" },
  "report of a message": { path: `messages/${messageId}?`, hasRange: false, isKept: true },
  [`outcomes of ${names.length} names`]: { path: `outcomes?timezone=UTC&name=${names.join()}` },
  audience: { path: "audience?timezone=Europe/Berlin", isKept: true },
  "retention by day": { path: "retention?timezone=Europe/Berlin&periods=12", isKept: true },
  funnel: { path: `retention?steps=${names.slice(0, 3).join()}`, isKept: true },
});

/** Sorted. */
const timesOf = async (
  { app, token }: System,
  { url }: SystemProgram,
  { path, hasRange = true, isKept = false, hasPeople = false }: Asked,
  { days, reads }: typeof whole,
): Promise<number[]> => {
  const end = Math.floor(Date.now() / dayMs) * dayMs;
  const unitMs = path.startsWith("outcomes") ? hourMs : quarterMs;
  const read = async (n: number): Promise<{ tookMs: number; body: Answer }> => {
    const to = end - (isKept ? 0 : n * unitMs);
    const range = `&from=${new Date(to - (days - 1) * dayMs).toISOString()}&to=${new Date(to).toISOString()}`;
    await sleep(paceMs);
    const startedMs = performance.now();
    const reply = await fetch(`${url}/v1/apps/${app._id}/analytics/${path}${hasRange ? range : ""}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await reply.text();
    const tookMs = performance.now() - startedMs;
    if (reply.status !== 200) throw new Error(`${reply.status}: ${text}`);
    const body = JSON.parse(text) as Answer;
    if (body.clamped === true) throw new Error("the plan keeps less than is asked for");
    return { tookMs, body };
  };
  let other = 0; // ranges that are not measured: they end later
  if (hasPeople) await until(async () => isCounted((await read((other -= 1))).body), 60_000, paceMs);
  if (isKept) await until(async () => isCounted((await read(0)).body), 60_000, paceMs);
  const tookMs: number[] = [];
  for (let n = 0; n < reads + 3; n++) tookMs.push((await read(n)).tookMs);
  return tookMs.slice(3).sort((a, b) => a - b); // the first ones warm up
};

type Answer = { parts?: unknown; as_of?: string | null; audience_as_of?: string | null; clamped?: boolean };

const isCounted = ({ parts, as_of: asOf, audience_as_of: peopleAsOf }: Answer): boolean =>
  parts !== null && asOf !== null && peopleAsOf !== null;

const freshness = async ({ db, app }: System, times: number): Promise<number> => {
  const tookMs: number[] = [];
  const rows = db.collection<DeliveryCounterRow>(deliveryCounterCollection.name);
  for (let n = 1; n <= times; n++) {
    const { delivery } = aMail({ tenant_id: app.tenant_id, app_id: app._id }, { campaign_id: `fresh_${n}` });
    await db.collection<DeliveryRow>(deliveryCollection.name).insertOne(delivery);
    const storedMs = performance.now();
    await dueQuarters(db).touch([delivery]);
    const isKept = {
      app_id: app._id,
      table: "cells" as const,
      day: dayOf(delivery.created_at),
      keys: { $regex: `fresh_${n}"` },
    };
    await until(async () => (await rows.countDocuments(isKept, { limit: 1 })) === 1, 120_000, 20);
    tookMs.push(performance.now() - storedMs);
  }
  return Math.max(...tookMs);
};

/** What analytics is asked for, and how soon it knows. */
export const analytics: Measurements = { analytics: measureAnalytics };
