import { expect } from "chai";
import type { Collection } from "mongodb";
import { type Clock, systemClock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import { type PartOf, timerSource, timers } from "#core/queue/timers.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import { longAgo } from "#core/storage/mongo/collection.ts";
import { dueIndex, turnIndex } from "#core/storage/work/due.ts";
import { type Leasable, settle, takeLease } from "#core/storage/work/leases.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";
import { keptLog, type Line, testMetrics } from "./helpers.ts";

type Row = Leasable & { tenant_id: string; note?: string };
type Due = PartOf<Row, "tenant_id">;

describe("timers", () => {
  const db = testDatabase("core_timers", []);
  let rows: Collection<Row>;
  let parts: Part[] = [];
  let lines: Line[] = [];
  let metrics = testMetrics().queue;
  let handled: { id: string; at: number; by: string; tenant: string }[] = [];

  before(async () => {
    rows = db().collection<Row>("rows");
    await ensureIndexes(db(), [{ name: "rows", indexes: [dueIndex, turnIndex] }]);
  });
  beforeEach(async () => {
    handled = [];
    await rows.deleteMany({});
    await db().collection("leases").deleteMany({});
  });
  afterEach(async () => {
    for (const part of parts) await part.stop(new AbortController().signal);
    parts = [];
  });

  const run = async (
    holder: string,
    handle?: (row: Due) => Promise<void>,
    clock: Clock = systemClock,
  ): Promise<Part> => {
    const kept = keptLog();
    lines = kept.lines;
    metrics = testMetrics().queue;
    const note = async (row: Due): Promise<void> =>
      void handled.push({ id: row._id, at: Date.now(), by: holder, tenant: row.tenant_id });
    const source = timerSource({ name: "rows", collection: rows, select: ["tenant_id"], handle: handle ?? note });
    const part = timers({
      sources: [source],
      holder,
      clock,
      log: kept.log,
      db: db(),
      metrics,
    });
    parts.push(part);
    await part.start(new AbortController().signal);
    return part;
  };
  /** How often a document was set aside. */
  const counted = async (): Promise<number> => (await metrics.setAside.get()).values[0]?.value ?? 0;
  const dueOf = async (id: string): Promise<number | null> =>
    (await rows.findOne({ _id: id }))?.due_at?.getTime() ?? null;

  it("have no handler that looks at what is not read, which the types say", () => {
    const looksAtNote = {
      name: "rows",
      collection: rows,
      handle: async (_row: Pick<Row, "_id" | "note">) => undefined,
    };
    expect(timerSource({ ...looksAtNote, select: ["note"] }).name).to.equal("rows");
    // @ts-expect-error `note` would seem absent
    expect(timerSource({ ...looksAtNote, select: ["tenant_id"] }).name).to.equal("rows");
  });

  it("handles what is due, once, by one of two processes, and moves it on by 10 s", async () => {
    await rows.insertMany([
      aRow("past", inMs(-5_000)),
      aRow("none", null),
      aRow("soon", inMs(700)),
      aRow("later", inMs(60_000)),
    ]);
    await Promise.all([run("p1"), run("p2")]);
    await until(() => handled.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // two more steps of each
    expect(handled.map(({ id, tenant }) => `${id} ${tenant}`)).to.deep.equal(["past t", "soon t"]);
    expect(await dueOf("past")).to.be.within((handled[0]?.at ?? 0) + 10_000, Date.now() + 10_000);
    expect(await dueOf("none")).to.equal(null);
  });

  it("handles 3,000 that come due over 3 s, each once and none before its time", async () => {
    const due = new Map(Array.from({ length: 3_000 }, (_, n) => [`r${n}`, inMs(1_000 + n)]));
    await rows.insertMany([...due].map(([id, at]) => aRow(id, at)));
    await run("p1");
    await until(() => handled.length >= 3_000);
    const lags = handled.map(({ id, at }) => at - (due.get(id)?.getTime() ?? 0));
    expect(new Set(handled.map(({ id }) => id)).size).to.equal(3_000);
    expect(handled).to.have.length(3_000);
    expect(Math.min(...lags)).to.be.at.least(0);
  });

  it("reads what is due from its index, in order, without a sort", async () => {
    const query = rows
      .find({ due_at: { $gt: longAgo, $lte: new Date() } })
      .sort({ due_at: 1 })
      .limit(1_000);
    const plan = JSON.stringify(await query.explain());
    expect(plan).to.match(/"(Index Name|indexName)":"due"/);
    expect(plan).not.to.match(/"(Node Type|stage)":"(Sort|SORT|Seq Scan|COLLSCAN)"/);
  });

  it("has all processes handle what is to be handled in turn, each document once, no tenant behind another's many", async () => {
    const many = Array.from({ length: 400 }, (_, n) => ({ ...aRow(`a${n}`, inMs(-60_000 + n)), tenant_id: "a" }));
    await rows.insertMany([...many, { ...aRow("b", inMs(-10)), tenant_id: "b" }]);
    const began = { p1: 0, p2: 0 };
    const handled: string[] = [];
    const start = async (holder: "p1" | "p2"): Promise<void> => {
      const take = async ({ _id, due_at }: Pick<Row, "_id" | "due_at">): Promise<void> => {
        const { modifiedCount } = await rows.updateOne({ _id, due_at }, { $set: { due_at: inMs(60_000) } });
        if (modifiedCount === 0) return; // the other has it
        handled.push(_id);
        began[holder]++;
        await until(() => began.p1 > 0 && began.p2 > 0);
      };
      const source = timerSource({ name: "rows", collection: rows, select: [], inTurn: true, handle: take });
      const { log } = keptLog();
      const part = timers({
        sources: [source],
        holder,
        clock: systemClock,
        log,
        db: db(),
        metrics: testMetrics().queue,
      });
      parts.push(part);
      await part.start(new AbortController().signal);
    };
    await Promise.all([start("p1"), start("p2")]);
    await until(() => handled.length >= 401);
    expect(new Set(handled).size).to.equal(401);
    expect(handled.indexOf("b"), "behind a turn of each process, and not behind all of them").to.be.below(200);
  });

  it("reads whose turn it is from its index, without a sort", async () => {
    const query = rows
      .find({ tenant_id: { $gt: "" }, due_at: { $gt: longAgo, $lte: new Date() } })
      .sort({ tenant_id: 1, due_at: 1 })
      .hint("turns")
      .limit(1);
    const plan = JSON.stringify(await query.explain());
    expect(plan).to.match(/"(Index Name|indexName)":"turns"/);
    expect(plan).not.to.match(/"(Node Type|stage)":"(Sort|SORT|Seq Scan|COLLSCAN)"/);
  });

  it("reads what is due in pages of 16 MB, and handles all of it", async () => {
    const text = "x".repeat(3_000_000);
    await rows.insertMany(
      Array.from({ length: 6 }, (_, n) => ({ ...aRow(`r${n}`, inMs(-1_000 + n)), tenant_id: text })),
    );
    let underWay = 0;
    let most = 0;
    await run("p1", async (row) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 50)); // the whole page is under way by then
      underWay--;
      handled.push({ id: row._id, at: 0, by: "", tenant: "" });
    });
    await until(() => handled.length === 6);
    expect(new Set(handled.map(({ id }) => id)).size).to.equal(6);
    expect(most).to.equal(5);
  });

  it("leaves alone what was taken or finished while it was handled", async () => {
    await rows.insertMany([aRow("taken", inMs(-10)), aRow("ended", inMs(-10))]);
    const until1 = inMs(0);
    const part = await run("p1", async (row) => {
      const leased = await takeLease(rows, { id: row._id, holder: "w", now: until1, leaseMs: 60_000 });
      if (row._id === "ended") await settle(rows, { _id: row._id, fence: leased?.fence ?? 0 }, { dueAt: null });
      handled.push({ id: row._id, at: 0, by: "", tenant: "" });
    });
    await until(() => handled.length === 2);
    await part.stop(new AbortController().signal); // the page that was handled is moved on by then
    expect(await dueOf("taken")).to.equal(until1.getTime() + 60_000);
    expect(await dueOf("ended")).to.equal(null);
  });

  it("passes to another process at once when stopped, and within the lease when killed", async () => {
    const first = await run("p1");
    await until(async () => (await db().collection("leases").countDocuments({ "lease.holder": "p1" })) === 1);
    await run("p2");
    await first.stop(new AbortController().signal);
    expect(await db().collection("leases").countDocuments({ "lease.holder": "p1" })).to.equal(0);
    await rows.insertOne(aRow("a", inMs(0)));
    await until(() => handled.some(({ by }) => by === "p2"));

    await db()
      .collection("leases")
      .updateOne({}, { $set: { lease: { holder: "killed", until: inMs(3_000) } }, $inc: { fence: 1 } });
    await rows.insertOne(aRow("b", inMs(0)));
    await until(() => handled.some(({ id }) => id === "b")); // the lease's 3 s, and a step
  });

  it("handles the others when one cannot be handled, which says why, is counted, and waits longer each time", async () => {
    const failing = "cannot";
    const now = new Date(); // it stands, so that nothing is due once more before all are handled
    const before = (ms: number) => new Date(now.getTime() - ms);
    await rows.insertMany([
      aRow(failing, before(60_000)), // the oldest: it comes first
      ...Array.from({ length: 1_500 }, (_, n) => aRow(`r${n}`, before(50_000 - n))), // more than a page
    ]);
    const note = async ({ _id: id }: Due): Promise<void> => {
      if (id === failing) throw new TypeError(`${id} be handled`);
      handled.push({ id, at: 0, by: "", tenant: "" });
    };
    await run("p1", note, { now: () => now });
    await until(() => handled.length === 1_500);
    const aside = async () => (await rows.findOne({ _id: failing }))?.set_aside;
    expect(await aside()).to.deep.include({ reason: "TypeError: cannot be handled", failures: 1 });
    expect(await dueOf(failing)).to.equal(now.getTime() + 10_000);
    expect(await counted()).to.equal(1);
    expect(lines.map(({ event, document, level }) => [event, document, level])).to.deep.equal([
      ["document.set_aside", failing, "error"],
    ]);

    await rows.updateOne({ _id: failing }, { $set: { due_at: before(1), "set_aside.failures": 9 } });
    await until(async () => (await aside())?.failures === 10);
    expect(await dueOf(failing)).to.equal(now.getTime() + 600_000);
    expect(await counted()).to.equal(2);
  });

  it("forgets why a document was set aside once it could be handled", async () => {
    const aside = { reason: "Error: no", failures: 3, since: inMs(-60_000) };
    await rows.insertOne({ ...aRow("a", inMs(-1)), set_aside: aside });
    await run("p1");
    await until(() => handled.length === 1);
    await until(async () => (await rows.findOne({ _id: "a" }))?.set_aside === undefined);
  });

  it("lets the holder of a lease on a document that could not be handled decide when it is due", async () => {
    await rows.insertOne(aRow("leased", inMs(-1)));
    const until1 = inMs(5_000);
    await run("p1", async ({ _id: id }) => {
      await rows.updateOne({ _id: id }, { $set: { lease: { holder: "w", until: until1 }, due_at: until1 } });
      throw new Error("no");
    });
    await until(async () => (await rows.findOne({ _id: "leased" }))?.set_aside !== undefined);
    expect(await dueOf("leased")).to.equal(until1.getTime());
  });

  it("handles what follows one for which alone a store seems to be away", async () => {
    await rows.insertMany([
      aRow("first", inMs(-60_000)),
      ...Array.from({ length: 200 }, (_, n) => aRow(`r${n}`, inMs(-50_000 + n))),
    ]);
    await run("p1", async ({ _id: id }) => {
      if (id === "first") throw new Unavailable("JetStream");
      handled.push({ id, at: 0, by: "", tenant: "" });
    });
    await until(() => new Set(handled.map(({ id }) => id)).size === 200);
    expect((await rows.findOne({ _id: "first" }))?.set_aside).to.equal(undefined);
  });

  it("handles again what could not be handled while a store was away, with one line in the log", async () => {
    await rows.insertOne(aRow("a", inMs(-1)));
    let isAway = true;
    await run("p1", async (row) => {
      if (isAway) throw new Unavailable("JetStream");
      handled.push({ id: row._id, at: 0, by: "", tenant: "" });
    });
    await until(() => lines.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1_600)); // further failures
    isAway = false;
    await until(() => handled.length === 1);
    await until(() => lines.length === 2);
    expect(lines.map(({ event }) => event)).to.deep.equal(["timers.failed", "timers.back"]);
  });
});

const aRow = (id: string, dueAt: Date | null): Row => ({
  _id: id,
  tenant_id: "t",
  due_at: dueAt,
  lease: null,
  fence: 0,
});

const inMs = (ms: number): Date => new Date(Date.now() + ms);
