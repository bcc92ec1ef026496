import { expect } from "chai";
import { type ConversionDayRow, conversionDayCollection } from "#core/storage/events/conversion-days.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { type EventDayRow, eventDayCollection } from "#core/storage/events/event-days.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import { type ReadEvents, readEvents } from "../../support/system/events.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type Hooked, startHooked } from "../../support/webhooks/chaos.ts";
import { addEndpoint, anEvent, postEvents } from "../../support/webhooks/traffic.ts";

/** Until JetStream hands out again what a killed dispatcher had; a busy machine takes its time. */
const takenOverMs = testTiming.ackWaitMs + 90_000;
/** A kill comes with every twentieth request. */
const [requests, perRequest, people] = inSuite([40, 20, 800], { soak: [80, 20, 1_000] });

describe("dispatchers that are killed while custom events come", function () {
  this.timeout(300_000);
  let hooked: Hooked;
  let api: SystemProgram;
  let dispatchers: SystemProgram[];
  let stream: ReadEvents;

  before(async () => {
    hooked = await startHooked(await testServers());
    const { system, inbox } = hooked;
    await addEndpoint(system, {
      url: `${inbox.url}/kept`,
      names: ["kept"],
      events: ["event.received", "conversion.created"],
    });
    const of = { tenantId: system.tenantId, appId: system.app._id };
    const [row] = await eventDefinitions(system.db).define(of, ["kept"], new Date());
    if (row !== undefined) await eventDefinitions(system.db).change(row, { is_conversion: true });
    [api, ...dispatchers] = await Promise.all([
      system.start("apiserver"),
      system.start("dispatcher"),
      system.start("dispatcher"),
    ]);
    stream = await readEvents((await testServers()).natsUrl, system.prefix);
  });
  after(async () => {
    await stream?.close();
    await hooked?.close();
  });

  const count = async (): Promise<{ count: number; users: number }> => {
    const rows = await hooked.system.db.collection<EventDayRow>(eventDayCollection.name).find().toArray();
    const sum = (member: "count" | "users") => rows.reduce((all, row) => all + row[member], 0);
    return { count: sum("count"), users: sum("users") };
  };

  it("count each event once, each person once a day, and tell each conversion once", async () => {
    const { system } = hooked;
    const total = requests * perRequest;
    let killed = 0;
    for (let request = 0; request < requests; request++) {
      const numbers = Array.from({ length: perRequest }, (_, i) => request * perRequest + i);
      await postEvents(
        system,
        api,
        numbers.map((n) => ({ ...anEvent("kept", n), ...(request % 2 === 0 && { id: undefined }) })), // published first
      );
      if (request % 20 !== 10) continue;
      const before = (await count()).count;
      await until(async () => (await count()).count > before, takenOverMs); // in the middle of its work
      const one = dispatchers[killed++ % dispatchers.length];
      await one?.kill();
      await one?.restart();
    }
    expect(killed).to.equal(requests / 20);
    await until(async () => (await count()).count >= total, takenOverMs);
    const conversions = system.db.collection("conversions");
    await until(async () => (await conversions.countDocuments({})) >= total, takenOverMs);
    const told = () => stream.all().filter(({ type }) => type === "conversion.created");
    await until(() => new Set(told().map(({ id }) => id)).size >= total, takenOverMs);
    const waiting = async () =>
      (await system.db.collection("counted_event_batches").countDocuments({})) >= requests &&
      (await system.db.collection("event_batches").countDocuments({ events: { $exists: true } })) === 0;
    await until(waiting, takenOverMs);

    expect(await collectionOf<EventRow>(system.db, eventCollection).countDocuments({})).to.equal(total);
    const days = await system.db.collection(eventDayCollection.name).countDocuments({});
    const { users, ...counted } = await count();
    expect(counted).to.deep.equal({ count: total });
    expect(users).to.be.within(people, days * people); // exactly, unless midnight came in between
    expect(await conversions.countDocuments({})).to.equal(total);
    const converted = await system.db.collection<ConversionDayRow>(conversionDayCollection.name).find().toArray();
    expect(converted.reduce((sum, row) => sum + row.count, 0)).to.equal(total);
    expect(new Set(told().map(({ data }) => data["event_id"])).size).to.equal(total);
    expect(new Set(told().map(({ id }) => id)).size).to.equal(total);
    const shown = await eventDefinitions(system.db).find({ tenantId: system.tenantId, appId: system.app._id }, "kept");
    expect(Object.values(shown?.counts ?? {}).reduce((sum, n) => sum + n, 0)).to.equal(total);
  });

  it("send each to its webhook, under one id however often", async () => {
    const total = requests * perRequest;
    const arrivals = () => hooked.inbox.arrivals("/kept");
    const ids = () => new Set(arrivals().map(({ eventId }) => eventId));
    await until(() => ids().size >= 2 * total, takenOverMs);
    expect(ids().size, "an event and its conversion").to.equal(2 * total);
  });
});
