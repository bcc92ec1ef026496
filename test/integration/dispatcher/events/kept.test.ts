import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { storedData } from "#core/storage/data.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { type EventPlace, type EventRow, eventCollection, events } from "#core/storage/events/events.ts";
import { keptApps } from "#core/storage/events/retention.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { keptEvents } from "../../../../dispatcher/events/retention.ts";
import { passOverApps } from "../../../../dispatcher/work/kept-apps.ts";
import { aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { aReceived, aRecorder, type GivenEvent } from "../../../support/system/custom-events.ts";

const noon = new Date("2026-11-20T12:00:00.000Z");
const clock = { now: () => noon };
const daysAgo = (days: number): Date => new Date(noon.getTime() - days * dayMs);

describe("custom events that are kept", () => {
  const db = testDatabase("kept_events");
  let app: AppRow;

  beforeEach(async () => {
    ({ app } = await seedTenant(db(), { plan: { retention_days: 20 } }));
  });

  const of = () => ({ tenantId: app.tenant_id, appId: app._id });
  const record = (...given: GivenEvent[]) =>
    aRecorder(db(), { apps: [app], clock }).handle(given.map((one) => aReceived(app._id, one, noon)));
  const stored = (filter: object = {}): Promise<EventRow[]> =>
    collectionOf<EventRow>(db(), eventCollection)
      .find({ app_id: app._id, ...filter })
      .toArray();

  it("are read by name and time in pages, each event once, also those of one instant", async () => {
    const times = Array.from({ length: 25 }, (_, n) => ({ name: "paged", occurred_at: daysAgo(Math.floor(n / 5)) }));
    await record(...times, { name: "other" });
    const found: EventRow[] = [];
    let after: EventPlace | null = null;
    for (let page = 0; page < 10; page++) {
      const rows: EventRow[] = await events(db()).page({ ...of(), name: "paged", after, limit: 3 });
      found.push(...rows);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = { occurredAt: last.occurred_at, id: last._id };
    }
    expect(found).to.have.length(25);
    expect(new Set(found.map(({ _id }) => _id)).size).to.equal(25);
    const instants = found.map(({ occurred_at: at }) => at.getTime());
    expect(instants).to.deep.equal(instants.toSorted((a, b) => a - b));
    const [from, to] = [daysAgo(3), daysAgo(2)];
    expect(await events(db()).page({ ...of(), name: "paged", from, to, after: null, limit: 100 })).to.have.length(10);
    expect(
      await events(db()).page({ tenantId: "ten_other", appId: app._id, name: "paged", after: null, limit: 9 }),
    ).to.deep.equal([]);
  });

  it("have their names gone through in order, without reading the events", async () => {
    await record(...["b", "a", "ä", "b", "Z"].map((name) => ({ name })));
    const names: string[] = [];
    for (
      let name = await events(db()).nextName(of(), "");
      name !== null;
      name = await events(db()).nextName(of(), name)
    )
      names.push(name);
    expect(names).to.deep.equal(["Z", "a", "b", "ä"]);
  });

  it("go after the days of their definition, else of the plan; their counts stay", async () => {
    const ages = [1, 4, 6, 19, 21, 29];
    for (const name of ["short", "plan", "longer"])
      await record(...ages.map((days) => ({ name, occurred_at: daysAgo(days) })));
    const definitions = eventDefinitions(db());
    for (const [name, retention_days] of [
      ["short", 5],
      ["longer", 400],
    ] as const) {
      const row = await definitions.find(of(), name);
      if (row !== null) await definitions.change(row, { retention_days });
    }
    const { find } = definitions;
    const deps = {
      ...events(db()),
      appsAfter: keptApps(db()),
      daysOf: async (asked: { tenantId: string; appId: string }, name: string) =>
        (await find(asked, name))?.retention_days ?? null,
      isOurs: async () => true,
      setAside: countAside(createMetrics("dispatcher").queue, "event-retention"),
      clock,
      log: createLog({ program: "dispatcher", level: "fatal" }),
    };
    expect(await passOverApps(deps, keptEvents(deps), new AbortController().signal)).to.equal(true);
    const agesOf = async (name: string) =>
      (await stored({ name }))
        .map(({ occurred_at: at }) => (noon.getTime() - at.getTime()) / dayMs)
        .toSorted((a, b) => a - b);
    expect(await agesOf("short")).to.deep.equal([1, 4]);
    expect(await agesOf("plan")).to.deep.equal([1, 4, 6, 19]);
    expect(await agesOf("longer"), "never longer than the plan").to.deep.equal([1, 4, 6, 19]);
    const counts = Object.values((await find(of(), "short"))?.counts ?? {});
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(ages.length);
  });

  it("go after the days of their app where those are fewer than the plan's", async () => {
    const { app: brief } = await seedTenant(db(), { plan: { retention_days: 20 }, app: { retention_days: 3 } });
    const { app: bold } = await seedTenant(db(), { plan: { retention_days: 20 }, app: { retention_days: 30 } });
    const days = new Map((await keptApps(db())("")).map(({ appId, days: kept }) => [appId, kept]));
    expect([days.get(app._id), days.get(brief._id), days.get(bold._id)]).to.deep.equal([20, 3, 20]);
  });

  it("of a deleted person are removed with their conversions, however they were named; those of the next one stay", async () => {
    const user = aUser({
      tenant_id: app.tenant_id,
      app_id: app._id,
      external_id: "ann",
      alias_keys: ["external_id:ann"],
    });
    await seed(db(), { users: [user] });
    const [row] = await eventDefinitions(db()).define(of(), ["bought"], noon);
    if (row !== undefined) await eventDefinitions(db()).change(row, { is_conversion: true });
    await record(
      { name: "bought", external_id: "ann" },
      { name: "bought", user_id: user._id },
      { name: "seen", subscription_id: "sub_ann" },
      { name: "bought", external_id: "bob" },
    );
    expect((await stored({ person: "external_id:ann" })).map(({ user_id: id }) => id)).to.deep.equal([
      user._id,
      user._id,
    ]);
    const later = new Date(noon.getTime() + 1_000);
    const next = aRecorder(db(), { apps: [app], clock: { now: () => later } });
    await next.handle([aReceived(app._id, { name: "bought", external_id: "ann" }, later)]);
    const keys = new Set([user._id, "external_id:ann", "sub_ann"]);
    const person = { ...of(), userId: user._id, keys, at: noon, isLast: false, isErased: false };
    for (let pass = 0; pass < 2; pass++) await storedData(db()).erasePerson(person);
    expect((await stored()).map(({ external_id: id }) => id)).to.have.members(["ann", "bob"]);
    const left = await db().collection<ConversionRow>(conversionCollection.name).find({ app_id: app._id }).toArray();
    expect(left.map(({ external_id: id }) => id)).to.have.members(["ann", "bob"]);
  });

  it("count a person once a day, whether named by the app's id, ours or a subscription", async () => {
    const user = aUser({
      tenant_id: app.tenant_id,
      app_id: app._id,
      external_id: "eve",
      alias_keys: ["external_id:eve"],
    });
    await record({ name: "seen", external_id: "eve" });
    await seed(db(), { users: [user] });
    await record({ name: "seen", user_id: user._id }, { name: "seen", external_id: "eve" }, { name: "seen" });
    await record({ name: "seen", user_id: "usr_unknown" });
    const found = await eventDefinitions(db()).find(of(), "seen");
    expect([found?.counts["2026-11-20"], found?.users["2026-11-20"]]).to.deep.equal([5, 2]);
  });
});
