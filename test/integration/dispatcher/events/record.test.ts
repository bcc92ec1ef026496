import { expect } from "chai";
import type { KeyValues } from "#core/domain/events/day-values.ts";
import { dateText } from "#core/domain/events/days.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type ConversionDayRow, conversionDayCollection } from "#core/storage/events/conversion-days.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import {
  type EventDefinitionRow,
  eventDefinitionCollection,
  eventDefinitions,
} from "#core/storage/events/definitions.ts";
import { type EventDayRow, eventDayCollection } from "#core/storage/events/event-days.ts";
import { type EventValuesRow, eventValuesCollection } from "#core/storage/events/event-values.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { cutAt } from "../../../support/queries/cutting.ts";
import { anApp } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { aReceived, aRecorder, type GivenEvent } from "../../../support/system/custom-events.ts";

const byDay = (a: { name: string; day: Date }, b: { name: string; day: Date }): number =>
  a.name.localeCompare(b.name) || a.day.getTime() - b.day.getTime();
const noon = new Date("2026-11-20T12:00:00.000Z");
const clock = { now: () => noon };
const tenantId = "ten_1";
let made = 0;

describe("custom events that are recorded", () => {
  const db = testDatabase("record_events");

  const aNewApp = () => anApp({ tenant_id: tenantId, _id: `app_r${++made}` });
  const ofApp = <Row extends { app_id: string }>(collection: string, appId: string): Promise<Row[]> =>
    db().collection(collection).find({ app_id: appId }).sort({ _id: 1 }).toArray() as unknown as Promise<Row[]>; // as they are stored
  const definition = async (appId: string, name = "order.paid"): Promise<EventDefinitionRow> =>
    (await eventDefinitions(db()).find({ tenantId, appId }, name)) ?? expect.fail("there is no definition");
  const define = async (appId: string, set: Partial<EventDefinitionRow>, name = "order.paid"): Promise<void> => {
    const [row] = await eventDefinitions(db()).define({ tenantId, appId }, [name], noon);
    if (row !== undefined) await eventDefinitions(db()).change(row, set);
  };
  const messagesOf = (appId: string, given: readonly GivenEvent[], perMessage: number): EventEnvelope[][] => {
    const events = given.map((one) => aReceived(appId, one, noon));
    return Array.from({ length: Math.ceil(events.length / perMessage) }, (_, n) =>
      events.slice(n * perMessage, (n + 1) * perMessage),
    );
  };
  /** What is stored of an app, without what only says how it came about. */
  const state = async (appId: string) => {
    const days = await ofApp<EventDayRow>(eventDayCollection.name, appId);
    const values = await ofApp<EventValuesRow>(eventValuesCollection.name, appId);
    const conversions = await ofApp<ConversionRow>(conversionCollection.name, appId);
    const converted = await ofApp<ConversionDayRow>(conversionDayCollection.name, appId);
    const definitions = (await ofApp<EventDefinitionRow>(eventDefinitionCollection.name, appId)).toSorted((a, b) =>
      a.name.localeCompare(b.name),
    );
    return {
      events: (await ofApp<EventRow>(eventCollection.name, appId)).map(({ _id }) => _id),
      days: days
        .toSorted(byDay)
        .map(({ day, count, users, hours, sums }) => ({ day: dateText(day), count, users, hours, sums })),
      values: values.toSorted(byDay).map(({ day, keys }) => ({
        day: dateText(day),
        keys: (JSON.parse(keys) as KeyValues[]).map(({ key, values: of }) => ({
          key,
          of: of.toSorted((a, b) => a.value.localeCompare(b.value)),
        })),
      })),
      conversions: conversions.map(({ event_id, attribution, value }) => ({ event_id, attribution, value })),
      converted: converted
        .toSorted(byDay)
        .map(({ day, attribution, count, hours, sums }) => ({ day: dateText(day), attribution, count, hours, sums })),
      definitions: definitions.map(({ name, counts, users, schema }) => ({ name, counts, users, schema })),
    };
  };

  const mixed: GivenEvent[] = Array.from({ length: 60 }, (_, n) => ({
    name: n % 3 === 0 ? "visit" : "order.paid",
    external_id: `u${n % 7}`,
    value: n % 3 === 0 ? null : n,
    occurred_at: new Date(noon.getTime() - (n % 4) * 13 * 3_600_000),
    properties: { currency: n % 2 === 0 ? "EUR" : "USD" },
  }));

  it("are stored, counted by hour, with the different people of each day", async () => {
    const app = aNewApp();
    const { handle } = aRecorder(db(), { apps: [app], clock });
    await Promise.all(messagesOf(app._id, mixed, 7).map(handle));
    const days = await ofApp<EventDayRow>(eventDayCollection.name, app._id);
    const peopleOf = (name: string, day: string) =>
      new Set(
        mixed
          .filter((one) => one.name === name && dateText(one.occurred_at ?? noon) === day)
          .map(({ external_id: id }) => id),
      ).size;
    expect(days.reduce((sum, { count }) => sum + count, 0)).to.equal(mixed.length);
    for (const { name, day, count, users, hours, sums } of days) {
      const own = mixed.filter((one) => one.name === name && dateText(one.occurred_at ?? noon) === dateText(day));
      expect([count, users]).to.deep.equal([own.length, peopleOf(name, dateText(day))]);
      expect(hours.reduce((sum, n) => sum + n, 0)).to.equal(count);
      const atNoon = own.filter((one) => one.occurred_at?.getUTCHours() === 12);
      expect([hours[12], sums[12]]).to.deep.equal([
        atNoon.length,
        atNoon.reduce((sum, { value }) => sum + (value ?? 0), 0),
      ]);
    }
    const { counts, schema } = await definition(app._id);
    const shown = Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(shown).to.equal(mixed.filter(({ name }) => name === "order.paid").length);
    expect(JSON.parse(schema)).to.deep.equal([{ key: "currency", type: "string" }]);
    const [row] = await ofApp<EventRow>(eventCollection.name, app._id);
    expect(row).to.include({ tenant_id: tenantId, source: "api" });
    expect(JSON.parse(row?.properties ?? "")).to.have.keys("currency");
  });

  it("count once when the dispatcher is killed at any write, and another gets the message again", async () => {
    const cuts = Array.from({ length: 60 }, (_, n) => ({ at: 1 + Math.floor(n / 2), isDone: n % 2 === 1 }));
    let isPast = false;
    let kills = 0;
    for (const cut of cuts) {
      if (isPast) break;
      const app = aNewApp();
      await define(app._id, { is_conversion: true });
      const messages = messagesOf(app._id, mixed.slice(0, 20), 10);
      const killed = cutAt(db(), cut);
      const first = aRecorder(killed.db, { apps: [app], clock, guard: killed.guard });
      const results = await Promise.allSettled(messages.map(first.handle));
      isPast = killed.passed() < cut.at;
      if (results.some(({ status }) => status === "rejected")) kills++;
      const second = aRecorder(db(), { apps: [app], clock });
      await Promise.all(messages.map(second.handle)); // also what was done: its acknowledgement may be lost
      const afterKill = await state(app._id);
      const calm = aNewApp();
      await define(calm._id, { is_conversion: true });
      const same = messages.map((events) =>
        events.map((event) => ({ ...event, id: `${event.id}x`, app_id: calm._id })),
      );
      await Promise.all(same.map(aRecorder(db(), { apps: [calm], clock }).handle));
      const expected = await state(calm._id);
      const at = `a kill at write ${cut.at}, ${cut.isDone ? "after" : "before"} it`;
      expect({ ...afterKill, events: afterKill.events.length }, at).to.deep.equal({
        ...expected,
        events: 20,
        conversions: afterKill.conversions,
      });
      expect(afterKill.conversions, at).to.have.length(expected.conversions.length);
      const counted = afterKill.converted.reduce((sum, { count }) => sum + count, 0);
      expect(counted, at).to.equal(expected.conversions.length);
      const told = new Set([...first.published, ...second.published].map(({ id }) => id));
      expect(told.size, at).to.equal(expected.conversions.length);
    }
    expect(isPast, "every write was cut").to.equal(true);
    expect(kills).to.be.at.least(12);
  });

  it("count conversions by what led to them and by hour, also when two dispatchers have them", async () => {
    const app = aNewApp();
    await define(app._id, { is_conversion: true });
    await seedTouches(app._id);
    const messages = messagesOf(app._id, [...led("u_clicked", 3), ...led("u_sent", 4), ...led("u_none", 5)], 5);
    const [one, two] = [aRecorder(db(), { apps: [app], clock }), aRecorder(db(), { apps: [app], clock })];
    await Promise.all([...messages.map(one.handle), ...messages.toReversed().map(two.handle)]);
    await Promise.all(messages.map(two.handle));
    const { converted } = await state(app._id);
    const shown = converted.map(({ attribution, count, hours, sums }) => [attribution, count, hours[11], sums[11]]);
    expect(shown).to.have.deep.members([
      ["direct", 3, 3, 6],
      ["influenced", 4, 4, 8],
      ["unattributed", 5, 5, 10],
    ]);
  });

  const led = (user_id: string, times: number): GivenEvent[] =>
    Array.from({ length: times }, () => ({ user_id, value: 2, occurred_at: new Date("2026-11-20T11:30:00.000Z") }));

  const seedTouches = async (appId: string): Promise<void> => {
    const at = new Date("2026-11-20T11:00:00.000Z");
    const of = { tenant_id: tenantId, app_id: appId };
    const deliveries = [
      aMail(of, { user_id: "u_clicked", sent_at: at, clicked_at: at }).delivery,
      aMail(of, { user_id: "u_sent", sent_at: at }).delivery,
    ];
    await db().collection<DeliveryRow>(deliveryCollection.name).insertMany(deliveries);
  };

  it("count once when two dispatchers have them at the same time, in whatever order", async () => {
    const app = aNewApp();
    const messages = messagesOf(app._id, [...mixed, ...mixed, ...mixed], 9);
    const [one, two] = [aRecorder(db(), { apps: [app], clock }), aRecorder(db(), { apps: [app], clock })];
    await Promise.all([...messages.map(one.handle), ...messages.toReversed().map(two.handle)]);
    await Promise.all(messages.map(two.handle));
    const { days, events, definitions } = await state(app._id);
    expect(events).to.have.length(180);
    expect(days.reduce((sum, { count }) => sum + count, 0)).to.equal(180);
    const people = (name: string) =>
      new Set(
        mixed
          .filter((given) => given.name === name)
          .map((given) => `${dateText(given.occurred_at ?? noon)} ${given.external_id}`),
      ).size;
    for (const name of ["order.paid", "visit"]) {
      const counts = definitions.find((row) => row.name === name)?.users ?? {};
      expect(Object.values(counts).reduce((sum, users) => sum + users, 0)).to.equal(people(name));
    }
    const left = await ofApp<EventDayRow>(eventDayCollection.name, app._id);
    for (const { batches } of left) expect(batches.length).to.be.at.most(messages.length);
  });

  it("count once when they come again in other messages", async () => {
    const app = aNewApp();
    const { handle } = aRecorder(db(), { apps: [app], clock });
    const [all = []] = messagesOf(app._id, mixed, 60);
    await handle(all.slice(0, 30));
    await Promise.all([handle(all), handle(all.slice(20, 50)), handle(all.slice(0, 30))]);
    const { days, events } = await state(app._id);
    expect([events.length, days.reduce((sum, { count }) => sum + count, 0)]).to.deep.equal([60, 60]);
  });

  it("are left out when their app is gone, or their person was erased", async () => {
    const app = aNewApp();
    const { handle } = aRecorder(db(), { apps: [app], clock });
    const erased = { ...aReceived(app._id), data: {}, erased: true };
    await handle([aReceived("app_gone"), erased, aReceived(app._id)]);
    expect(await ofApp(eventCollection.name, app._id)).to.have.length(1);
    expect(await ofApp(eventCollection.name, "app_gone")).to.deep.equal([]);
    expect(await ofApp(eventDayCollection.name, "app_gone")).to.deep.equal([]);
  });
});
