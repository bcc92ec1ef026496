import type { Cell } from "#core/domain/analytics/tables.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { dateText, lastDays } from "#core/domain/events/days.ts";
import { newId } from "#core/domain/ids.ts";
import {
  type DeliveryCounterRow,
  deliveryCounterCollection,
  deliveryCounters,
} from "#core/storage/analytics/delivery-counters.ts";
import { definitionIdOf, eventDefinitions } from "#core/storage/events/definitions.ts";
import { dayIdOf, type EventDayRow, emptyDay, eventDayCollection } from "#core/storage/events/event-days.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type SessionMonthRow, sessionMonthCollection } from "#core/storage/people/session-months.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { aMail, aSentMessage } from "../../support/callbacks/deliveries.ts";
import { aUser } from "../../support/rows/fixtures.ts";
import type { System } from "../../support/system/system.ts";

/** The last full day: what was counted of it stands for every other. */
const lastDay = (): Date => new Date(Math.floor(Date.now() / dayMs) * dayMs - dayMs);

/** Counters of days whose quarters of an hour all have deliveries; how many these are. */
export const seedDays = async (
  { db, app }: System,
  { days, cells, perCell }: { days: number; cells: number; perCell: number },
): Promise<number> => {
  const rows = db.collection<DeliveryCounterRow>(deliveryCounterCollection.name);
  const of = { tenant_id: app.tenant_id, app_id: app._id };
  const channels = ["ios_push", "android_push", "email"] as const;
  const counts = {
    targeted: perCell,
    sent: perCell,
    delivered: 40,
    opened: 12,
    clicked: 3,
    bounced: 1,
    failed: 1,
    opens_total: 17,
    clicks_total: 4,
  };
  const names = { template_id: "tpl_welcome", campaign_id: null, category: "news" };
  const made = Array.from({ length: cells }, (_, n): Cell => {
    const channel = channels[n % channels.length] ?? "email";
    return { channel, source: n < 3 ? "api" : "campaign", ...names, provider: `provider_${n}`, counts };
  });
  const last_at = new Date();
  const failure = { channel: "email", provider: "smtp", count: 1, last_at, message_id: "msg_1" } as const;
  const failures = ["HARD_BOUNCE", "SPAM_REJECTED", "EXPIRED"].map((error_code) => ({ ...failure, error_code }));
  const named = (name: string) => made.map((cell) => ({ ...cell, name }));
  const statuses = ["sent", "delivered", "opened"].flatMap(named).map((one) => ({ ...one, counts: { targeted: 15 } }));
  const alike = { channels, source: "api", ...names, labels: ["spring"], segment_ids: ["seg_1"], count: 3 } as const;
  const more = { labels: named("spring"), segments: named("seg_1"), statuses, messages: [alike] };
  const times = channels.flatMap((channel, n) =>
    Array.from({ length: 40 }, (_, of) => ({ channel, class: 60 + 10 * n + of, count: 1 + (of % 5) })),
  );
  const none = { suppressed: [], domains: [], countries: [] };
  const quarter = { cells: made, ...more, failures, ...none, times, at: new Date() };
  const first = lastDay();
  for (let n = 0; n < dayMs / quarterMs; n++)
    await deliveryCounters(db).keep(ofApp(app), new Date(first.getTime() + n * quarterMs), quarter);
  const tables = await rows.find({ app_id: app._id, day: first }).toArray(); // each day is as this one
  for (const day of lastDays(new Date(first.getTime() - dayMs), days - 1))
    await rows.insertMany(
      tables.map((row) => ({ ...row, ...of, day, _id: `${app._id}/${dateText(day)}/${row.table}` })),
    );
  return days * (dayMs / quarterMs) * cells * perCell;
};

/** Roll-ups of events of some names, whose hours all have some; the names. */
export const seedOutcomes = async (
  { db, app }: System,
  { days, names: count, perHour }: { days: number; names: number; perHour: number },
): Promise<string[]> => {
  const names = Array.from({ length: count }, (_, n) => `event_${n}`);
  await eventDefinitions(db).define(ofApp(app), names, new Date());
  const hours = Array.from({ length: 24 }, () => perHour);
  for (const name of names) {
    const rows = lastDays(lastDay(), days).map((day): EventDayRow => {
      const _id = dayIdOf(definitionIdOf(app._id, name), day);
      const empty = emptyDay({ _id, tenant_id: app.tenant_id, app_id: app._id, name, day });
      return { ...empty, count: 24 * perHour, hours, sums: hours, users: perHour, revision: 1 };
    });
    await db.collection<EventDayRow>(eventDayCollection.name).insertMany(rows);
  }
  return names;
};

/** Messages over so many days, the first with so many deliveries; its id. */
export const seedMessages = async (
  { db, app }: System,
  { days, messages, deliveries }: { days: number; messages: number; deliveries: number },
): Promise<string> => {
  const of = { tenant_id: app.tenant_id, app_id: app._id };
  const end = lastDay().getTime();
  const rows = Array.from({ length: messages }, (_, n): MessageRow => {
    const created_at = new Date(end - Math.floor((n * (days - 2) * dayMs) / messages));
    const labels = [`label ${n % 7}`];
    return { ...aSentMessage(of, newId("message", created_at), 10_000 + n), created_at, labels };
  });
  await db.collection<MessageRow>(messageCollection.name).insertMany(rows);
  const message_id = rows[0]?._id ?? "";
  const sent = Array.from({ length: deliveries }, (_, n) => {
    const clicked = n % 9 === 0 && { clicked_at: new Date(), clicked_url: `https://shop.example/${n % 40}?id=${n}` };
    return aMail(of, { message_id, ...clicked }).delivery;
  });
  for (let n = 0; n < deliveries; n += 1_000)
    await db.collection<DeliveryRow>(deliveryCollection.name).insertMany(sent.slice(n, n + 1_000));
  return message_id;
};

/** People who came over so many days, with a session each week, and events one after another. */
export const seedPeople = async (
  { db, app }: System,
  { days, people, names }: { days: number; people: number; names: readonly string[] },
): Promise<void> => {
  const of = { tenant_id: app.tenant_id, app_id: app._id };
  const end = lastDay().getTime();
  const users = Array.from({ length: people }, (_, n): UserRow => {
    const at = new Date(end - ((n * 7_919) % (days - 2)) * dayMs);
    return aUser({ ...of, external_id: `p${n}`, first_seen_at: at, created_at: at });
  });
  await db.collection<UserRow>(userCollection.name).insertMany(users);
  const month = new Date(Date.UTC(new Date(end).getUTCFullYear(), new Date(end).getUTCMonth() - 2));
  const quarters = [3, 700, 1_400, 2_100, 2_600];
  const sessions = users.map(
    ({ _id: user_id }): SessionMonthRow => ({ _id: `${user_id}/m`, ...of, user_id, month, quarters, begun_at: month }),
  );
  await db.collection<SessionMonthRow>(sessionMonthCollection.name).insertMany(sessions);
  const events = users.flatMap(({ _id: user_id, external_id, first_seen_at: from }) =>
    names.map((name, n): EventRow => {
      const at = new Date(from.getTime() + n * hourMs);
      const person = `external_id:${external_id}`;
      return {
        _id: newId("event", at),
        ...of,
        name,
        occurred_at: at,
        received_at: at,
        person,
        user_id,
        source: "api",
        batch: "b",
      };
    }),
  );
  await db.collection<EventRow>(eventCollection.name).insertMany(events);
};
