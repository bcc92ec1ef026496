import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import { Partitions, type PartitionsDeps } from "../../../../dispatcher/webhooks/partitions/partitions.ts";
import { partitionCount, testPartitioning } from "../../../support/rows/partitioning.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

const log = createLog({ program: "dispatcher", level: "fatal" });
const one = 7;

describe("the partitions that a dispatcher owns", () => {
  const db = testDatabase("partitions");
  let shiftMs = 0;
  let wallShiftMs = 0;
  let made: Partitions[] = [];

  beforeEach(async () => {
    [shiftMs, wallShiftMs] = [0, 0];
    await db().collection("webhook_shares").deleteMany({});
  });

  /** What was drained is given up by a look of its own, which must not write into the table of the next test. */
  afterEach(async () => {
    for (let round = 0; round < 2; round++) await Promise.allSettled(made.map((partitions) => partitions.look()));
    made = [];
  });

  /** A dispatcher that looks when a test says so. */
  const aDispatcher = (holder: string, over: Partial<PartitionsDeps> = {}) => {
    const lists = { taken: [] as number[], lost: [] as number[], drained: [] as number[], members: [] as number[] };
    const seen = { ...lists, silent: [] as string[], published: 0 };
    const deps: PartitionsDeps = {
      tables: webhookOwners(db(), testPartitioning),
      holder,
      changed: { publish: () => void seen.published++, on: async () => () => undefined },
      onTaken: (partition) => void seen.taken.push(partition),
      onSilent: (silent) => void seen.silent.push(silent),
      onMembers: (count) => void seen.members.push(count),
      onLost: (partition) => void seen.lost.push(partition),
      drain: async (partition) => void seen.drained.push(partition),
      clock: { now: () => new Date(Date.now() + shiftMs + wallShiftMs) },
      monotonicMs: () => performance.now() + shiftMs,
      random: Math.random,
      timing: timings.usual,
      log,
      ...over,
    };
    const partitions = new Partitions(deps);
    made.push(partitions);
    return { partitions, seen };
  };
  type Dispatcher = ReturnType<typeof aDispatcher>;
  const read = () => webhookOwners(db(), testPartitioning).partitions.read(new Date());
  const ownedBy = async (holder: string): Promise<number> =>
    (await read()).owners.filter((owner) => owner.holder === holder).length;

  it("are all of them when it is alone, and it says that it has taken them", async () => {
    const { partitions, seen } = aDispatcher("a");
    await partitions.look();
    const all = [partitions.owned().length, seen.taken.length, seen.published];
    expect(all).to.deep.equal([partitionCount, partitionCount, 1]);
    await partitions.look();
    expect([seen.taken.length, seen.published], "nothing has changed").to.deep.equal([partitionCount, 1]);
    expect(partitions.fenceOf(one)).to.be.a("number");
  });

  it("are divided among all that take part, whose number each hears", async () => {
    const [{ partitions: a, seen: ofA }, { partitions: b, seen: ofB }] = [aDispatcher("a"), aDispatcher("b")];
    await a.look();
    expect(ofA.members.at(-1)).to.equal(1);
    await b.look();
    await a.look();
    expect([ofA.members.at(-1), ofB.members.at(-1)]).to.deep.equal([2, 2]);
  });

  it("are not trusted for longer when the wall clock is put back, and nobody seems gone when it is put forward", async () => {
    const [{ partitions: a }, { partitions: b }] = [aDispatcher("a"), aDispatcher("b")];
    await until(async () => {
      for (const one of [a, b]) await one.look();
      return (await ownedBy("b")) === partitionCount / 2;
    });
    wallShiftMs = 3_600_000;
    await b.look();
    expect(await ownedBy("a"), "put forward").to.equal(partitionCount / 2);
    await a.look();
    wallShiftMs = -3_600_000;
    shiftMs = 9_000;
    expect(a.owned(), "put back").to.deep.equal([]);
  });

  it("are drained before another takes them, and nothing new begins for them meanwhile", async () => {
    const draining = Promise.withResolvers<void>();
    const first = aDispatcher("a", { drain: () => draining.promise });
    const other = aDispatcher("b");
    await first.partitions.look();
    await other.partitions.look();
    await first.partitions.look();
    expect([await ownedBy("a"), await ownedBy("b")]).to.deep.equal([partitionCount, 0]);
    const last = partitionCount - 1;
    expect([first.partitions.fenceOf(last), first.partitions.isOwned(last)]).to.deep.equal([null, true]);
    draining.resolve();
    await until(async () => (await ownedBy("a")) === partitionCount / 2);
    await other.partitions.look();
    expect([await ownedBy("b"), first.seen.lost]).to.deep.equal([partitionCount / 2, []]);
    expect(other.partitions.fenceOf(last)).to.be.a("number");
  });

  it("are written by several at the same time without one of them being lost", async () => {
    const all = ["a", "b", "c", "d", "e"].map((holder) => aDispatcher(holder).partitions);
    for (let round = 0; round < 12; round++) await Promise.all(all.map((partitions) => partitions.look()));
    const counts = await Promise.all(["a", "b", "c", "d", "e"].map(ownedBy));
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(partitionCount);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    for (const partitions of all) await partitions.look();
    expect(all.filter((partitions) => partitions.fenceOf(one) !== null).length, "all agree").to.equal(1);
  });

  it("are given back one by one when it stops, which waits for what is under way", async () => {
    const draining = Promise.withResolvers<void>();
    const drain = (partition: number) => (partition === 0 ? draining.promise : Promise.resolve());
    const [{ partitions: first }, { partitions: other }] = [aDispatcher("a", { drain }), aDispatcher("b")];
    await first.start(AbortSignal.timeout(10_000));
    const stopping = first.stop(AbortSignal.timeout(20_000));
    await until(async () => (await ownedBy("a")) === 1);
    await other.look();
    expect(await ownedBy("b")).to.equal(partitionCount - 1);
    draining.resolve();
    await stopping;
    await other.look();
    expect(await ownedBy("b")).to.equal(partitionCount);
    expect((await read()).members.map(({ holder }) => holder)).to.deep.equal(["b"]);
  });

  it("are not trusted once it stood still for eight seconds, until it has written again", async () => {
    const { partitions } = aDispatcher("a");
    await partitions.look();
    shiftMs = 8_000;
    expect([partitions.fenceOf(one), partitions.owned().length]).to.deep.equal([null, 0]);
    await partitions.look();
    expect(partitions.fenceOf(one)).to.be.a("number");
  });

  it("are another's once it stood still for longer, under a newer fence, and it finds out that they are lost", async () => {
    const [dead, other] = [aDispatcher("a"), aDispatcher("b")];
    await dead.partitions.look();
    const fence = dead.partitions.fenceOf(one) ?? expect.fail();
    for (shiftMs = 0; shiftMs < 6_000; shiftMs += 2_000) await other.partitions.look();
    expect(other.seen.silent).to.deep.equal([]);
    await other.partitions.look();
    expect(other.seen.silent, "it may be gone").to.deep.equal(["a"]);
    for (; shiftMs <= 12_000; shiftMs += 2_000) await other.partitions.look();
    expect(other.partitions.owned()).to.have.length(partitionCount);
    expect(other.partitions.fenceOf(one)).to.equal(fence + 1);
    expect(dead.partitions.fenceOf(one)).to.equal(null);
    expect(dead.partitions.isElsewhere(one), "it has not looked yet").to.equal(false);
    await dead.partitions.look();
    expect(dead.seen.lost).to.have.length(partitionCount);
    expect([dead, other].map(({ partitions }) => partitions.isElsewhere(one))).to.deep.equal([true, false]);
  });

  it("are lost also while they are free, and taken anew under a newer fence", async () => {
    const [dead, next, other] = ["a", "b", "c"].map((holder) => aDispatcher(holder)) as [
      Dispatcher,
      Dispatcher,
      Dispatcher,
    ];
    for (let round = 0; round < 6; round++) for (const { partitions } of [dead, next, other]) await partitions.look();
    const had = dead.partitions.owned();
    expect(had.length).to.be.within(5, 6);
    const { owners } = await read();
    for (shiftMs = 2_000; (await ownedBy("a")) > 0; shiftMs += 2_000) {
      await next.partitions.look();
      if ((await ownedBy("a")) > 0) await other.partitions.look();
    }
    dead.seen.taken.length = 0;
    await dead.partitions.look(); // some are free: it takes those that it is due
    expect(dead.seen.lost).to.have.members(had);
    const again = dead.seen.taken.filter((partition) => had.includes(partition));
    expect(again.length).to.be.above(0);
    const now = await read();
    for (const partition of again) expect(now.owners[partition]?.fence).to.be.above(owners[partition]?.fence ?? 0);
  });
});
