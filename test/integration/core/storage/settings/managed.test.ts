import { expect } from "chai";
import type { Collection } from "mongodb";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import {
  Deposed,
  type Fence,
  type Managed,
  type ManagedRow,
  managedRows,
  orphans,
  type RecordWrite,
  stampEpoch,
} from "#core/storage/settings/managed.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

type Row = ManagedRow & { title: string };

const by = (uid = "u"): Omit<Managed, "epoch"> => ({
  kind: "Plan",
  namespace: null,
  name: "gold",
  uid,
  policy: "Enforce",
  deletion: "Delete",
});
const now = new Date("2026-01-01T00:00:00Z");
const later = new Date("2026-01-01T00:01:00Z");

/** The fence of a term that lasts until it is over. */
const term = (epoch: number, isOver: () => boolean = () => false): Fence => ({
  epoch: () => epoch,
  check: () => {
    if (isOver()) throw new Deposed("test");
  },
});

/** A check that lets so many calls pass. */
const overAfter = (calls: number) => (): void => {
  if (calls-- <= 0) throw new Deposed("test");
};

describe("managed documents", () => {
  const db = testDatabase("core_managed", []);
  let rows: Collection<Row>;
  const wanted = (found: Row | null, title = "Gold"): RecordWrite<Row> => ({
    id: "gold",
    found,
    managed: by(),
    set: { title },
    begin: {},
  });
  const stored = () => rows.findOne({ _id: "gold" });

  before(async () => {
    rows = db().collection<Row>(planCollection.name);
    await rows.createIndexes([...planCollection.indexes]);
  });
  beforeEach(() => rows.deleteMany({}));

  it("are made, changed only where they differ, and removed", async () => {
    const { keep, remove } = managedRows(rows, term(1));
    expect(await keep(wanted(null), now)).to.equal("created");
    expect(await keep(wanted(await stored()), now)).to.equal("unchanged");
    expect(await keep(wanted(await stored(), "Golden"), now)).to.equal("updated");
    expect(await stored()).to.deep.include({ title: "Golden", managed: { ...by(), epoch: 1 } });
    expect(await remove("gold", "another")).to.equal(false);
    expect(await remove("gold", "u")).to.equal(true);
    expect(await remove("gold", "u")).to.equal(false);
  });

  for (const [name, before] of [
    ["is nobody's", null],
    ["a resource only made", { ...by(), policy: "CreateOnly", epoch: 1 }],
  ] as [string, Managed | null][]) {
    it(`are not taken over as they were read when others changed them since: one that ${name}`, async () => {
      const { keep } = managedRows(rows, term(1));
      await rows.insertOne({ _id: "gold", title: "Gold", managed: before, updated_at: now });
      const found = await stored();
      await rows.updateOne({ _id: "gold" }, { $set: { title: "Others'", updated_at: later } });
      const error = await keep(wanted(found, "Ours"), later).catch((thrown: unknown) => thrown);
      expect(String(error)).to.contain("gold changed while it was written");
      expect(await stored()).to.deep.include({ title: "Others'", managed: before });
      expect(await keep(wanted(await stored(), "Ours"), later)).to.equal("updated");
    });
  }

  it("are let go of with their members", async () => {
    const { keep, release } = managedRows(rows, term(1));
    await keep(wanted(null), now);
    expect(await release("gold", "another", now)).to.equal(false);
    expect(await release("gold", "u", now)).to.equal(true);
    expect(await stored()).to.include({ title: "Gold", managed: null });
  });

  it("are out of a former leader's reach once the next has stamped them", async () => {
    const former = managedRows(rows, term(1));
    await former.keep(wanted(null), now);
    const seen = await stored();
    await stampEpoch(rows, 2);
    const attempts = [
      () => former.keep(wanted(seen, "Stale"), now),
      () => former.remove("gold", "u"),
      () => former.release("gold", "u", now),
    ];
    for (const attempt of attempts) {
      expect(
        await attempt().then(
          () => "done",
          (error: unknown) => String(error),
        ),
      ).to.match(/of a later term than this one/);
    }
    expect(await stored()).to.deep.include({ title: "Gold", managed: { ...by(), epoch: 2 } });
    const deposed = managedRows(rows, { epoch: () => 1, check: overAfter(1) });
    expect(await deposed.remove("gold", "u").catch((error: unknown) => error)).to.be.instanceOf(Deposed);
    expect(await managedRows(rows, term(2)).keep(wanted(await stored()), now)).to.equal("unchanged");
  });

  it("are not written when the term is over, and taken back when it ends meanwhile", async () => {
    const over = managedRows(
      rows,
      term(1, () => true),
    );
    expect(await over.keep(wanted(null), now).catch((error: unknown) => error)).to.be.instanceOf(Deposed);
    expect(await stored()).to.equal(null);
    let checks = 0;
    const ending = managedRows(
      rows,
      term(1, () => checks++ > 0),
    );
    expect(await ending.keep(wanted(null), now).catch((error: unknown) => error)).to.be.instanceOf(Deposed);
    expect(checks).to.equal(2);
    expect(await stored()).to.equal(null);
  });

  it("of a release without epochs are stamped too, and those of nobody are not", async () => {
    const { epoch: _, ...old } = { ...by(), epoch: 0 };
    await rows.insertOne({ _id: "old", title: "", managed: old as Managed, updated_at: now }); // as it was stored then
    await rows.insertOne({ _id: "free", title: "", managed: null, updated_at: now });
    await stampEpoch(rows, 3);
    expect((await rows.findOne({ _id: "old" }))?.managed?.epoch).to.equal(3);
    expect(await rows.findOne({ _id: "free" })).to.deep.include({ managed: null });
  });

  it("without a resource are found", async () => {
    const kept = managedRows(db().collection<PlanRow>(planCollection.name), term(1));
    for (const name of ["a", "b"]) {
      await kept.keep({ id: name, found: null, managed: by(`uid-${name}`), set: {}, begin: {} }, now);
    }
    const found = await orphans(rows, (uid) => uid === "uid-a");
    expect(found.map(({ id }) => id)).to.deep.equal(["b"]);
    expect(await orphans(rows, () => false, 1)).to.have.length(1);
  });

  it("of two that are made at once, one is", async () => {
    const { keep } = managedRows(rows, term(1));
    const kept = await Promise.all([keep(wanted(null), now), keep(wanted(null), now)]);
    expect(kept.toSorted()).to.deep.equal(["created", "taken"]);
  });
});
