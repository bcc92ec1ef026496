import { expect } from "chai";
import { heldLeases } from "#core/storage/work/held-leases.ts";
import { leaseCollection, namedLease } from "#core/storage/work/leases.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const names = Array.from({ length: 20 }, (_, i) => `timers/${i}`);
const leaseMs = 1_000;

describe("the leases that one holder has by name", () => {
  const db = testDatabase("held_leases", [leaseCollection]);
  let nowMs = Date.now();
  const clock = { now: () => new Date(nowMs) };
  const of = (holder: string) => heldLeases(db(), { holder, leaseMs, clock });

  beforeEach(() => db().collection(leaseCollection.name).deleteMany({}));

  it("are each taken by one of many who ask for all at once, the first time and when their time is over", async () => {
    for (const round of ["first", "over"]) {
      const taken = await Promise.all(["p1", "p2", "p3", "p4"].map((holder) => of(`${round} ${holder}`).take(names)));
      expect(taken.flat().sort(), round).to.deep.equal(names.toSorted());
      nowMs += leaseMs;
    }
  });

  it("stay its own when it takes them again, and are nobody else's", async () => {
    const [one, two] = [of("p1"), of("p2")];
    expect(await one.take(names)).to.have.members(names);
    expect(await one.take(names)).to.have.members(names);
    expect(await two.take(names)).to.deep.equal([]);
    await two.release(names);
    expect(await one.extend(names)).to.equal(true);
    await one.release(names.slice(0, 5));
    expect(await two.take(names)).to.have.members(names.slice(0, 5));
    expect(await one.extend(names)).to.equal(false);
  });

  it("are seen as whose they are, for how long, and not when nobody has them", async () => {
    const [one, two] = [of("p1"), of("p2")];
    await one.take(["timers/a"]);
    await two.take(["timers/b", "timers/c"]);
    await two.release(["timers/c"]);
    nowMs += leaseMs / 2;
    await one.extend(["timers/a"]);
    const seen = await one.look(["timers/a", "timers/b", "timers/c", "timers/d"]);
    const told = [...seen].map(([name, { isOwn, until }]) => `${name} ${isOwn} ${until.getTime() - nowMs}`);
    expect(told).to.have.members(["timers/a true 1000", "timers/b false 500"]);
  });

  it("are one lock with those that are taken one by one, under fences that grow", async () => {
    const single = namedLease(db(), { name: "timers/0", holder: "p1", leaseMs, clock });
    expect(await single.take()).to.deep.equal({ fence: 1 });
    expect(await of("p2").take(["timers/0"])).to.deep.equal([]);
    await single.release();
    expect(await of("p2").take(["timers/0"])).to.deep.equal(["timers/0"]);
    nowMs += leaseMs;
    expect(await single.take()).to.deep.equal({ fence: 3 });
  });
});
