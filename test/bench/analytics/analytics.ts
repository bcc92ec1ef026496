import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "#core/domain/analytics/quarters.ts";
import { dayMs, quarterMs } from "#core/domain/durations.ts";
import { dateText, dayOf, lastDays } from "#core/domain/events/days.ts";
import {
  type DeliveryCounterRow,
  deliveryCounterCollection,
  deliveryCounters,
} from "#core/storage/analytics/delivery-counters.ts";
import { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { aMail } from "../../support/callbacks/deliveries.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";

const whole = { days: 400, cells: 6, perCell: 44, reads: 40, fresh: 20 };
const short: typeof whole = { ...whole, days: 20, reads: 3, fresh: 2 };
const paceMs = 210; // an app may ask five times a second

/** Answers of 400 days, whose quarters of an hour all have deliveries; and how soon a change is in them. */
const measureAnalytics: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const size = isShort ? short : whole;
    const deliveries = await seedDays(system, size);
    const { apiserver } = await startPrograms({ system, stores }, 1);
    const how = `${size.reads} one after another, no two alike, of ${size.days} days with ${deliveries} deliveries`;
    for (const [name, query] of Object.entries(questions)) {
      const value = await slowestOf(system, apiserver, query, size);
      tell({ name: `analytics, ${name}, slowest`, reach: atMost(50), value, unit: "ms", how });
    }
    const value = await freshness(system, size.fresh);
    const freshHow = `${size.fresh} one after another, from the stored delivery to the kept counter`;
    tell({ name: "analytics, freshness, slowest", reach: atMost(5_000), value, unit: "ms", how: freshHow });
  });

const questions = {
  overview: "overview?timezone=Asia/Kolkata",
  channels: "channels?timezone=UTC",
  failures: "failures?timezone=UTC",
  "timeseries by day in Berlin": "timeseries?metric=sent,open_rate&timezone=Europe/Berlin",
  "timeseries by day in Kolkata, by channel": "timeseries?metric=sent&group_by=channel&timezone=Asia/Kolkata",
  "timeseries by hour of the week": "timeseries?metric=sent&interval=hour_of_week&timezone=Europe/Berlin",
};

const seedDays = async ({ db, app }: System, { days, cells, perCell }: typeof whole): Promise<number> => {
  const rows = db.collection<DeliveryCounterRow>(deliveryCounterCollection.name);
  const of = { tenant_id: app.tenant_id, app_id: app._id };
  const channels = ["ios_push", "android_push", "email"] as const;
  const counts = { targeted: perCell, sent: perCell, delivered: 40, opened: 12, clicked: 3, bounced: 1, failed: 1 };
  const names = { template_id: "tpl_welcome", campaign_id: null, category: "news" };
  const made = Array.from({ length: cells }, (_, n): Cell => {
    const channel = channels[n % channels.length] ?? "email";
    return { channel, source: n < 3 ? "api" : "campaign", ...names, provider: `provider_${n}`, counts };
  });
  const last_at = new Date();
  const failure = { channel: "email", provider: "smtp", count: 1, last_at, message_id: "msg_1" } as const;
  const failures = ["HARD_BOUNCE", "SPAM_REJECTED", "EXPIRED"].map((error_code) => ({ ...failure, error_code }));
  const quarter = { cells: made, failures, suppressed: [], domains: [], at: new Date() };
  const first = new Date(Math.floor(Date.now() / dayMs) * dayMs - dayMs);
  for (let n = 0; n < dayMs / quarterMs; n++)
    await deliveryCounters(db).keep(ofApp(app), new Date(first.getTime() + n * quarterMs), quarter);
  const tables = await rows.find({ app_id: app._id }).toArray(); // each day is as this one
  for (const day of lastDays(new Date(first.getTime() - dayMs), days - 1))
    await rows.insertMany(
      tables.map((row) => ({ ...row, ...of, day, _id: `${app._id}/${dateText(day)}/${row.table}` })),
    );
  return days * (dayMs / quarterMs) * cells * perCell;
};

const slowestOf = async (
  { app, token }: System,
  { url }: SystemProgram,
  query: string,
  { days, reads }: typeof whole,
): Promise<number> => {
  const tookMs: number[] = [];
  const end = Math.floor(Date.now() / dayMs) * dayMs;
  for (let n = 0; n < reads + 3; n++) {
    const to = end - n * quarterMs;
    const range = `from=${new Date(to - (days - 1) * dayMs).toISOString()}&to=${new Date(to).toISOString()}`;
    await sleep(paceMs);
    const startedMs = performance.now();
    const reply = await fetch(`${url}/v1/apps/${app._id}/analytics/${query}&${range}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await reply.text();
    tookMs.push(performance.now() - startedMs);
    if (reply.status !== 200) throw new Error(`${reply.status}: ${text}`);
  }
  return Math.max(...tookMs.slice(3)); // the first ones warm up
};

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
    await until(async () => (await rows.countDocuments(isKept, { limit: 1 })) === 1, 30_000, 20);
    tookMs.push(performance.now() - storedMs);
  }
  return Math.max(...tookMs);
};

/** What analytics is asked for, and how soon it knows. */
export const analytics: Measurements = { analytics: measureAnalytics };
