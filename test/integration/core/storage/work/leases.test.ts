import { expect } from "chai";
import type { Collection } from "mongodb";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { extendLease, type Leasable, namedLease, settle, takeLease } from "#core/storage/work/leases.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

type Row = Leasable & { status: string; note?: string; outbox: string[] };

describe("leases", () => {
  const db = testDatabase("core_leases", []);
  let rows: Collection<Row>;
  const t0 = new Date("2026-11-21T08:00:00Z");
  const later = (ms: number): Date => new Date(t0.getTime() + ms);

  before(async () => {
    rows = collectionOf<Row>(db(), { name: "rows" });
  });
  beforeEach(async () => {
    await db().collection("leases").deleteMany({});
    await rows.deleteMany({});
    await rows.insertOne({ _id: "a", status: "open", outbox: [], due_at: t0, lease: null, fence: 0 });
  });

  it("gives a document to one of many that ask at once", async () => {
    const takers = Array.from({ length: 30 }, (_, i) => takeLease(rows, term(`p${i}`, t0)));
    const taken = (await Promise.all(takers)).filter((row) => row !== null);
    expect(taken).to.have.length(1);
    expect(taken[0]).to.deep.include({ fence: 1, due_at: later(1_000) });
    expect(taken[0]?.lease?.until).to.deep.equal(later(1_000));
  });

  it("gives it to another only when the lease has expired, under a higher fence", async () => {
    await takeLease(rows, term("p1", t0));
    expect(await takeLease(rows, term("p2", later(999)))).to.equal(null);
    expect((await takeLease(rows, term("p2", later(1_000))))?.fence).to.equal(2);
  });

  it("takes only what matches, and writes what taking changes", async () => {
    expect(
      await takeLease(rows, { ...term("p1", t0), when: { $or: [{ status: "done" }, { status: "gone" }] } }),
    ).to.equal(null);
    const row = await takeLease(rows, { ...term("p1", t0), when: { status: "open" }, set: { status: "busy" } });
    expect(row?.status).to.equal("busy");
  });

  it("extends for its holder and refuses one that was overtaken", async () => {
    await takeLease(rows, term("p1", t0));
    expect(await extendLease(rows, first, { now: later(900), leaseMs: 1_000, set: { note: "x" } })).to.equal(true);
    expect(await takeLease(rows, term("p2", later(1_500)))).to.equal(null);
    await takeLease(rows, term("p2", later(1_900)));
    expect(await extendLease(rows, first, { now: later(2_000), leaseMs: 1_000, set: { note: "y" } })).to.equal(false);
    expect((await rows.findOne({ _id: "a" }))?.note).to.equal("x");
  });

  it("writes a result under its fence and gives the lease back", async () => {
    await takeLease(rows, term("p1", t0));
    const end = {
      dueAt: null,
      set: { status: "done" },
      push: { outbox: "e1" },
    } as const;
    expect(await settle(rows, first, end)).to.equal(true);
    expect(await rows.findOne({ _id: "a" })).to.deep.equal({
      _id: "a",
      status: "done",
      outbox: ["e1"],
      due_at: null,
      lease: null,
      fence: 1,
    });
  });

  it("writes nothing for a holder that was overtaken", async () => {
    await takeLease(rows, term("p1", t0));
    await takeLease(rows, term("p2", later(1_000)));
    expect(await settle(rows, first, { dueAt: null, set: { status: "done" } })).to.equal(false);
    expect(await rows.findOne({ _id: "a" })).to.deep.include({ status: "open", fence: 2, due_at: later(2_000) });
  });

  describe("namedLease", () => {
    let nowMs = t0.getTime();
    const clock = { now: () => new Date(nowMs) };
    const view = (holder: string) => namedLease(db(), { name: "timers/x", holder, leaseMs: 1_000, clock });

    it("is taken by one of many that ask for it the first time", async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => view(`p${i}`).take()));
      expect(taken.filter((lease) => lease !== null)).to.deep.equal([{ fence: 1 }]);
    });

    it("passes on by release and by expiry, never otherwise", async () => {
      const [one, two] = [view("p1"), view("p2")];
      expect(await one.take()).to.deep.equal({ fence: 1 });
      expect(await two.take()).to.equal(null);
      await two.release();
      expect(await one.extend()).to.equal(true);
      await one.release();
      expect(await two.take()).to.deep.equal({ fence: 2 });
      nowMs += 1_000;
      expect(await one.take()).to.deep.equal({ fence: 3 });
      expect(await two.extend()).to.equal(false);
    });
  });
});

/** The document as the first holder took it. */
const first = { _id: "a", fence: 1 };

const term = (holder: string, now: Date) => ({ id: "a", holder, now, leaseMs: 1_000 });
