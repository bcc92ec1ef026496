import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { type Fence, type Managed, managedRows } from "#core/storage/settings/managed.ts";
import { terms } from "../../../../operator/terms.ts";
import { aPlan } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const now = new Date("2026-01-01T00:00:00Z");
const term = (epoch: number): Fence => ({ epoch: () => epoch, check: () => {} });

describe("operator: the sweep, after a deposed leader's write arrived late", () => {
  const db = testDatabase("operator_sweep");
  const announced: string[] = [];

  beforeEach(async () => {
    announced.length = 0;
    await plans().deleteMany({});
  });

  const plans = () => collectionOf<PlanRow>(db(), planCollection);
  const stored = () => plans().findOne({ _id: "gold" });
  const doings = () => {
    const announce = (_collection: string, id: string) => announced.push(id);
    return terms({ db: db(), announce, log: createLog({ program: "test", level: "fatal" }) });
  };
  const stamp = (epoch: number) => doings().stamp(epoch);
  const sweep = (epoch: number) => doings().sweep(epoch, { isKnown: () => false, isLookedAt: () => true });
  const by: Omit<Managed, "epoch"> = {
    kind: "Plan",
    namespace: null,
    name: "gold",
    uid: "gone",
    policy: "Enforce",
    deletion: "Delete",
  };
  const keep = (epoch: number, found: PlanRow | null, title = "Gold") => {
    const { _id: id, managed: _, updated_at: __, ...begin } = aPlan({ _id: "gold" });
    return managedRows(plans(), term(epoch)).keep({ id, found, managed: by, set: { title }, begin }, now);
  };

  it("removes what it made", async () => {
    await stamp(6);
    expect(await keep(5, null)).to.equal("created");
    await sweep(6);
    expect(await stored()).to.equal(null);
    expect(announced).to.deep.equal(["gold"]);
  });

  it("releases what it had taken over: that was there before any resource", async () => {
    await plans().insertOne(aPlan({ _id: "gold", managed: null }));
    const found = await stored();
    await stamp(6);
    expect(await keep(5, found)).to.equal("updated");
    await sweep(6);
    expect(await stored()).to.include({ managed: null, title: "Gold" });
    expect(announced).to.deep.equal(["gold"]);
  });

  it("knows for good that a record was taken over, and leaves alone what is of its own term", async () => {
    await plans().insertOne(aPlan({ _id: "gold", managed: null }));
    await keep(6, await stored());
    expect(await keep(6, await stored())).to.equal("unchanged");
    await keep(6, await stored(), "Golden");
    const before = await stored();
    expect(before?.managed).to.deep.equal({ ...by, epoch: 6, adopted: true });
    await sweep(6);
    expect(await stored()).to.deep.equal(before);
    expect(announced).to.deep.equal([]);
  });
});
