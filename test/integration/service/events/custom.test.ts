import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { receive } from "#core/domain/events/custom.ts";
import { newId } from "#core/domain/ids.ts";
import { eventText } from "#core/queue/events.ts";
import { eventClaims } from "#core/storage/events/claims.ts";
import { type EventDayRow, eventDayCollection } from "#core/storage/events/event-days.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { useEventSystem } from "../../../support/system/event-system.ts";
import { until } from "../../../support/until.ts";

/** What could not be published at once is published when it is due again, after 10 s. */
const sweptMs = 30_000;

describe("custom events on their way to the stream", () => {
  const { servers, system, api, stream, rows, batches, isEmpty } = useEventSystem();

  const publish = async (...events: object[]): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: JSON.stringify({ events }),
    });
    return { status: reply.status, ...((await reply.json()) as object) };
  };
  const arrived = (name: string) => stream.all().filter(({ data }) => data["name"] === name);

  /** A batch as a crash leaves it between its storing and the claim of its events: due now. */
  const leave = async (name: string, ...ids: string[]): Promise<void> => {
    const now = new Date();
    const events = ids.flatMap((id) => {
      const judged = receive({ id, name }, system.app._id, now);
      return judged.kind === "event" ? [{ ...eventText(judged.event), once: judged.once }] : [];
    });
    await rows().insertOne({
      _id: newId("eventBatch", now),
      tenant_id: system.tenantId,
      app_id: system.app._id,
      events,
      traceparent: null,
      due_at: now,
      lease: null,
      fence: 0,
      created_at: now,
    });
  };

  it("arrive once, and nothing of them stays stored", async () => {
    const events = Array.from({ length: 250 }, (_, n) => ({ id: `plain-${n}`, name: "plain" }));
    expect(await publish(...events, ...events.slice(0, 50))).to.include({ status: 202, accepted: 250, duplicates: 50 });
    await until(() => arrived("plain").length >= 250, sweptMs);
    await until(isEmpty, sweptMs);
    expect(new Set(arrived("plain").map(({ id }) => id)).size).to.equal(250);
    expect(arrived("plain")).to.have.length(250);
  });

  it("that a crash left stored arrive by a dispatcher, and their ids are taken then", async () => {
    await leave("left", "l-1", "l-2");
    await until(() => arrived("left").length === 2, sweptMs);
    await until(isEmpty, sweptMs);
    expect(await publish({ id: "l-1", name: "left" }, { id: "l-3", name: "left" })).to.include({
      accepted: 1,
      duplicates: 1,
    });
    await until(() => arrived("left").length === 3, sweptMs);
  });

  it("that a crash left stored do not arrive when the sender has repeated them meanwhile", async () => {
    expect(await publish({ id: "r-1", name: "repeated" })).to.include({ accepted: 1 });
    await leave("repeated", "r-1", "r-2");
    await until(isEmpty, sweptMs);
    await until(() => arrived("repeated").length === 2);
    expect(new Set(arrived("repeated").map(({ id }) => id)).size).to.equal(2);
  });

  /** What dispatchers have stored and counted of a name. */
  const counted = async (name: string): Promise<[stored: number, counted: number]> => {
    const days = await system.db.collection<EventDayRow>(eventDayCollection.name).find({ name }).toArray();
    const stored = await system.db.collection<EventRow>(eventCollection.name).countDocuments({ name });
    return [stored, days.reduce((sum, { count }) => sum + count, 0)];
  };

  it("whose sender repeats them while they are on their way, at another replica, count once", async () => {
    const once = { id: "o-1", name: "once" };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => publish(once, { id: `o-beside-${n}`, name: "beside" })),
    );
    expect(replies.reduce((sum, { accepted }) => sum + Number(accepted), 0)).to.equal(11);
    await until(async () => isDeepStrictEqual(await counted("beside"), [10, 10]), sweptMs);
    await until(isEmpty, sweptMs);
    expect(new Set(arrived("once").map(({ id, timestamp }) => `${id} ${timestamp}`)).size).to.equal(1);
    const before = arrived("once").length;
    expect(await publish(once)).to.include({ accepted: 0, duplicates: 1 });
    await publish({ name: "last" });
    await until(() => arrived("last").length === 1);
    expect([await counted("once"), arrived("once").length], "what is stored is not told again").to.deep.equal([
      [1, 1],
      before,
    ]);
  });

  it("whose id was claimed by one who was killed before they published them arrive by a repetition", async () => {
    const judged = receive({ id: "k-1", name: "killed" }, system.app._id, new Date(Date.now() - 60_000));
    if (judged.kind !== "event" || judged.once === false) throw new Error("it has an id");
    const { id, timestamp } = judged.event;
    await eventClaims(system.db).claim([{ once: judged.once, id, timestamp }]);
    expect(await publish({ id: "k-1", name: "killed" })).to.include({ accepted: 0, duplicates: 1 });
    await until(async () => isDeepStrictEqual(await counted("killed"), [1, 1]), sweptMs);
    await until(isEmpty, sweptMs);
    expect(arrived("killed").map((event) => [event.id, event.timestamp])).to.deep.equal([[id, timestamp]]);
  });

  it("are in the stream at the reply, and never in the store", async () => {
    const before = arrived("first").length;
    expect(await publish({ name: "first" }, { id: "f-1", name: "first" })).to.include({ status: 202, accepted: 2 });
    expect(await rows().countDocuments({ ...batches, "events.text": /"first"/ })).to.equal(0);
    await until(() => arrived("first").length === before + 2);
  });

  it("are stored when JetStream does not answer, and are in the stream once when it does", async () => {
    servers.nats.pause();
    try {
      expect(await publish({ name: "deaf" }, { name: "deaf" })).to.include({ status: 202, accepted: 2 });
      expect(await rows().countDocuments(batches)).to.equal(1);
    } finally {
      servers.nats.resume();
    }
    await until(isEmpty, sweptMs);
    await until(() => arrived("deaf").length >= 2);
    expect(arrived("deaf")).to.have.length(2);
  });

  it("are accepted while JetStream is away, and arrive once when it is back", async () => {
    await servers.nats.kill();
    expect(await publish({ id: "away-1", name: "away" }, { name: "away" })).to.include({ status: 202, accepted: 2 });
    expect(await publish({ id: "away-1", name: "away" })).to.include({ accepted: 0, duplicates: 1 });
    await until(async () => (await rows().countDocuments(batches)) === 1); // the repeated one has nothing to tell
    await servers.nats.start();
    await until(async () => {
      await rows().updateMany(batches, { $set: { due_at: new Date() } }); // they are due again each 10 s
      return isEmpty();
    }, 30_000);
    await until(() => arrived("away").length >= 2);
    expect(arrived("away")).to.have.length(2);
  });
});
