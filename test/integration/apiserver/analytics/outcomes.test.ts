import { expect } from "chai";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import { dayOf } from "#core/domain/events/days.ts";
import { newId } from "#core/domain/ids.ts";
import type { Outcome } from "#core/schema/analytics/outcomes.ts";
import { type ConversionDayRow, conversionDays, emptyConversionDay } from "#core/storage/events/conversion-days.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import { definitionIdOf, eventDefinitions } from "#core/storage/events/definitions.ts";
import { dayIdOf, emptyDay, eventDays } from "#core/storage/events/event-days.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { countReports } from "../../../support/analytics/people-reports.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aPlan, seedTenant } from "../../../support/rows/fixtures.ts";

type Happened = { name: string; at: number; value: number };
type Tenant = Awaited<ReturnType<typeof seedTenant>>;

describe("outcomes", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "analytics", retention_days: 730 } });
  const now = Math.floor(Date.now() / hourMs) * hourMs; // the hour that runs

  const call = (query: string, of: Pick<Tenant, "app" | "token"> = tenant) =>
    site.api.call("GET", `/v1/apps/${of.app._id}/analytics/outcomes?${query}`, { token: of.token });

  const add = async ({ app }: Pick<Tenant, "app">, all: readonly Happened[], batch = "b"): Promise<void> => {
    const of = { tenantId: app.tenant_id, appId: app._id };
    await eventDefinitions(site.db).define(of, [...new Set(all.map(({ name }) => name))], new Date());
    const byDay = Map.groupBy(all, ({ name, at }) => `${dayOf(new Date(at)).getTime()} ${name}`);
    const changes = [...byDay.values()].flatMap((some) => some.slice(0, 1).map((one) => dayOfEvents(app, one, some)));
    const shares = changes.map(({ first, hours }) => ({ first, shares: [{ batch, change: { hours, users: 1 } }] }));
    await eventDays(site.db, async () => new Set()).add(shares);
  };

  const dayOfEvents = (app: Tenant["app"], { name, at }: Happened, some: readonly Happened[]) => {
    const day = dayOf(new Date(at));
    const hours = Map.groupBy(some, (one) => Math.floor((one.at - day.getTime()) / hourMs));
    const sums = [...hours].map(
      ([hour, of]) => [hour, { count: of.length, sum: of.reduce((sum, { value }) => sum + value, 0) }] as const,
    );
    const _id = dayIdOf(definitionIdOf(app._id, name), day);
    return { first: emptyDay({ _id, tenant_id: app.tenant_id, app_id: app._id, name, day }), hours: new Map(sums) };
  };

  const instant = (ms: number) => new Date(ms).toISOString();
  const range = (from: number, to: number) => `from=${instant(from)}&to=${instant(to)}`;

  it("are what a plain program counts, for any range, by the hour, and a batch that comes again changes nothing", async () => {
    const own = await seedTenant(site.db, { plan: { _id: "analytics", retention_days: 730, api_rps: 1_000 } });
    const names = ["bought", "looked"];
    const all = Array.from({ length: 300 }, (_, n) => ({
      name: names[(n >> 1) % 2] ?? "",
      at: now - n * 32 * hourMs + ((n * 331) % 3_600_000),
      value: n % 10,
    }));
    await add(own, all);
    await add(own, all.slice(0, 20));
    for (const [before, hours] of [
      [9_599, 9_600],
      [720, 720],
      [700, 24],
      [701, 1],
      [333, 30],
    ] as const) {
      const [from, to] = [now - before * hourMs, now - (before - hours) * hourMs];
      const within = (name: string) => all.filter((one) => one.name === name && one.at >= from && one.at < to);
      const { status, body } = await call(`${range(from, to)}&name=${names.join()}`, own);
      expect(status).to.equal(200);
      const shown = body.data.map(({ name, count, sum }) => ({ name, count, sum }));
      const counted = names.map((name) => ({
        name,
        count: within(name).length,
        sum: within(name).reduce((sum, { value }) => sum + value, 0),
      }));
      expect(shown, `${hours} hours`).to.have.deep.members(counted);
      expect(shown.map(({ count }) => count)).to.deep.equal(counted.map(({ count }) => count).sort((a, b) => b - a));
    }
  });

  it("are compared with the range before, and say how much more there is", async () => {
    const at = now - 2 * dayMs;
    const event = (hoursAgo: number) => ({ name: "compared", at: at - hoursAgo * hourMs, value: 2 });
    await add(tenant, [event(1), event(2), event(3), event(26), event(27)]);
    const { body } = await call(`${range(at - dayMs, at)}&name=compared&compare=previous_period&timezone=UTC`);
    const { as_of: asOf, ...rest } = body as Record<string, unknown>;
    expect(Date.parse(String(asOf))).to.be.at.least(now);
    expect(rest).to.deep.equal({
      from: instant(at - dayMs),
      to: instant(at),
      timezone: "UTC",
      previous: { from: instant(at - 2 * dayMs), to: instant(at - dayMs) },
      clamped: false,
      complete_from: instant(at - dayMs),
      people_as_of: null,
      progress: null,
      data: [
        {
          name: "compared",
          is_conversion: false,
          attribution: "total",
          count: 3,
          sum: 6,
          previous: { count: 2, sum: 4 },
          change: { count: 0.5, sum: 0.5 },
          unique_users: null,
          by_message: null,
          by_channel: null,
        },
      ],
    });
  });

  const converted = (of: Pick<Tenant, "app">, attribution: ConversionDayRow["attribution"], at: Date, batch = "b") => {
    const day = dayOf(at);
    const row = { tenant_id: of.app.tenant_id, app_id: of.app._id, name: "paid", attribution, begun_at: at, day };
    const first = emptyConversionDay({ ...row, _id: dayIdOf(`${of.app._id} paid ${attribution}`, day) });
    const hours = new Map([[at.getUTCHours(), { count: 2, sum: 10 }]]);
    return conversionDays(site.db, async () => new Set()).add([{ first, shares: [{ batch, change: { hours } }] }]);
  };

  it("count conversions by what led to them, from when on they are counted", async () => {
    const own = await seedTenant(site.db, { plan: { _id: "analytics", retention_days: 730, api_rps: 1_000 } });
    const at = now - 3 * dayMs;
    await add(own, [{ name: "paid", at: at - 2 * hourMs, value: 5 }]);
    await converted(own, "direct", new Date(at - 2 * hourMs));
    await converted(own, "direct", new Date(at - hourMs), "later");
    await converted(own, "influenced", new Date(at - hourMs));
    const asked = async (attribution: string, from = at - 2 * hourMs, to = at) => {
      const query = `${range(from, to)}&name=paid&attribution=${attribution}&compare=previous_period&timezone=UTC`;
      const { body } = await call(query, own);
      return body.data.map(({ attribution: of, count, sum, previous }) => [of, count, sum, previous])[0];
    };
    expect(await asked("direct")).to.deep.equal(["direct", 4, 20, { count: 0, sum: 0 }]);
    expect(await asked("direct", at - hourMs)).to.deep.equal(["direct", 2, 10, { count: 2, sum: 10 }]);
    expect(await asked("influenced")).to.deep.equal(["influenced", 2, 10, { count: 0, sum: 0 }]);
    expect(await asked("unattributed")).to.deep.equal(["unattributed", 0, 0, { count: 0, sum: 0 }]);
  });

  it("of conversions say from when on these are counted, where some are stored from before", async () => {
    const own = await seedTenant(site.db, { plan: { _id: "analytics", retention_days: 730, api_rps: 1_000 } });
    const [begun, former] = [new Date(now - 2 * hourMs), new Date(now - 9 * hourMs)];
    await add(own, [{ name: "paid", at: begun.getTime(), value: 5 }]);
    await converted(own, "direct", begun);
    const completeFrom = async (days: number, attribution = "direct") => {
      const query = `${range(now - days * dayMs, now)}&name=paid&attribution=${attribution}`;
      return (await call(query, own)).body["complete_from"];
    };
    expect(await completeFrom(1)).to.equal(instant(now - dayMs));
    const of = { tenant_id: own.app.tenant_id, app_id: own.app._id };
    const row = { _id: `cnv_${own.app._id}`, ...of, event_id: "evt_1", event_name: "paid", created_at: former };
    await site.db.collection<Pick<ConversionRow, keyof typeof row>>(conversionCollection.name).insertOne(row);
    expect(await completeFrom(2)).to.equal(begun.toISOString());
    expect(await completeFrom(3, "total")).to.equal(instant(now - 3 * dayMs));
  });

  type Counted = Partial<Pick<Outcome, "unique_users" | "by_message" | "by_channel">>;
  const none: Counted = {};

  it("have different people, and the messages and channels that led to most, counted by a job once somebody asks", async () => {
    const own = await seedTenant(site.db, { plan: { _id: "analytics", retention_days: 730, api_rps: 1_000 } });
    const at = now - 3 * dayMs;
    await add(own, [{ name: "paid", at: at - hourMs, value: 1 }]);
    const of = { tenant_id: own.app.tenant_id, app_id: own.app._id };
    const event = (person: string | undefined, hoursAgo: number): EventRow => {
      const occurred_at = new Date(at - hoursAgo * hourMs);
      const who = person === undefined ? {} : { person };
      const row = { _id: newId("event", occurred_at), ...of, name: "paid", occurred_at, ...who };
      return { ...row, received_at: occurred_at, source: "api", batch: "b" };
    };
    const people = [event("usr_a", 1), event("usr_a", 2), event("usr_b", 3), event(undefined, 3), event("usr_c", 0)];
    await site.db.collection<EventRow>(eventCollection.name).insertMany(people);
    const conversion = (message_id: string | null, attribution: ConversionRow["attribution"], value: number) => ({
      _id: newId("event", new Date(at)),
      ...of,
      event_id: newId("event", new Date(at)),
      event_name: "paid",
      person: "usr_a",
      value,
      attribution,
      message_id,
      channel: message_id === null ? null : message_id === "msg_1" ? ("email" as const) : ("ios_push" as const),
      occurred_at: new Date(at - hourMs),
      created_at: new Date(at),
    });
    const made = [
      conversion("msg_1", "direct", 5),
      conversion("msg_2", "influenced", 1),
      conversion("msg_2", "direct", 2.5),
      conversion(null, "unattributed", 8),
    ];
    await site.db.collection<(typeof made)[number]>(conversionCollection.name).insertMany(made);
    const asked = async (attribution: string) => {
      const query = `${range(at - dayMs, at)}&name=paid&aggregation=unique_users&attribution=${attribution}`;
      const { body } = await call(query, own);
      const [{ unique_users: users, by_message: messages, by_channel: channels } = none] =
        body.data as unknown as Counted[];
      return { users, messages, channels, asOf: body["people_as_of"], progress: body["progress"] };
    };
    const uncounted = { users: null, messages: null, channels: null, asOf: null, progress: { people: 0 } };
    expect(await asked("total")).to.deep.equal(uncounted);
    expect(await asked("direct")).to.deep.equal(uncounted);
    await countReports(site.db, own.app._id);
    const [all, direct] = [await asked("total"), await asked("direct")];
    expect([all.users, all.progress, direct.users]).to.deep.equal([2, null, 1]);
    expect(all.messages).to.deep.equal([
      { message_id: "msg_2", count: 2, sum: 3.5 },
      { message_id: "msg_1", count: 1, sum: 5 },
    ]);
    expect(direct.messages).to.deep.equal([
      { message_id: "msg_1", count: 1, sum: 5 },
      { message_id: "msg_2", count: 1, sum: 2.5 },
    ]);
    expect([all.channels, direct.channels]).to.deep.equal([
      [
        { channel: "ios_push", count: 2, sum: 3.5 },
        { channel: "email", count: 1, sum: 5 },
      ],
      [
        { channel: "email", count: 1, sum: 5 },
        { channel: "ios_push", count: 1, sum: 2.5 },
      ],
    ]);
    expect(Date.parse(String(all.asOf))).to.be.at.least(now);
  });

  it("of an event that did not happen are zeros, which nothing is compared with", async () => {
    await eventDefinitions(site.db).define(
      { tenantId: tenant.app.tenant_id, appId: tenant.app._id },
      ["no"],
      new Date(),
    );
    const { body } = await call("name=no&compare=previous_year");
    expect(body.data[0]).to.include({ count: 0, sum: 0 });
    expect(body.data[0]).to.have.deep.property("change", { count: null, sum: null });
  });

  it("that were asked for a moment ago are answered from memory", async () => {
    const own = await seedTenant(site.db, { plan: aPlan({ _id: "analytics", retention_days: 730 }) });
    const at = now - 5 * dayMs;
    await add(own, [{ name: "kept", at: at - hourMs, value: 1 }]);
    const first = await call(`${range(at - dayMs, at)}&name=kept`, own);
    await add(own, [{ name: "kept", at: at - hourMs, value: 1 }], "later");
    expect((await call(`${range(at - dayMs, at)}&name=kept`, own)).body).to.deep.equal(first.body);
    expect((await call(`${range(at - 2 * dayMs, at)}&name=kept`, own)).body.data[0]).to.include({ count: 2 });
  });

  it("refuse what cannot be counted, by the name of the member", async () => {
    const own = await seedTenant(site.db);
    await add(own, [{ name: "there", at: now - hourMs, value: 0 }]);
    const faults = [
      ["", "name"],
      ["name=there,missing", "name[1]"],
      [`name=${Array.from({ length: 21 }, (_, n) => `n${n}`).join()}`, "name"],
      ["name=there&attribution=indirect", "attribution"],
      ["name=there&aggregation=people", "aggregation"],
      ["name=there&platform=ios", "platform"],
      ["name=there&timezone=Mars/Base", "timezone"],
      [`name=there&${range(now, now - dayMs)}`, "to"],
      [`name=there&${range(now - 401 * dayMs, now)}`, "from"],
      [`name=there&${range(now - hourMs / 2, now)}`, "from"],
      ["name=there&compare=yesterday", "compare"],
    ] as const;
    for (const [query, field] of faults.slice(0, 5)) await expectRefused(query, field, own);
    const other = await seedTenant(site.db);
    await add(other, [{ name: "there", at: now - hourMs, value: 0 }]);
    for (const [query, field] of faults.slice(5)) await expectRefused(query, field, other);
  });

  const expectRefused = async (query: string, field: string, of: Pick<Tenant, "app" | "token">): Promise<void> => {
    const { status, body } = await call(query, of);
    expect([status, body.error.details["field"]], query).to.deep.equal([400, field]);
  };

  it("are those of the app alone, and are for keys that may read analytics", async () => {
    const [own, other] = [await seedTenant(site.db), await seedTenant(site.db, { key: { scopes: ["events:write"] } })];
    await add(own, [{ name: "ours", at: now - hourMs, value: 0 }]);
    expect((await call("name=ours", { app: own.app, token: tenant.token })).status).to.equal(404);
    expect((await call("name=ours", { app: other.app, token: other.token })).status).to.equal(403);
    expect((await call("name=ours")).status).to.equal(400); // another app has it
  });

  it("are asked for five times a second of an app, and then refused", async () => {
    const own = await seedTenant(site.db);
    const replies = await Promise.all(Array.from({ length: 50 }, () => call("name=x", own)));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).to.not.have.length(0);
    expect(refused[0]?.body.error.details["limit"]).to.equal(5);
  });
});
