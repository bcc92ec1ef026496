import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { shareCount, shareOf } from "#core/domain/webhooks/shares.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { webhookShares } from "#core/storage/webhooks/shares.ts";
import { Shares, type SharesDeps } from "../../../../dispatcher/webhooks/shares/shares.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

const log = createLog({ program: "dispatcher", level: "fatal" });
const endpoint = "whk_1";

describe("the shares that a dispatcher owns", function () {
  this.timeout(30_000);
  const db = testDatabase("shares");
  let shiftMs = 0;
  let wallShiftMs = 0;

  beforeEach(async () => {
    [shiftMs, wallShiftMs] = [0, 0];
    await db().collection("webhook_shares").deleteMany({});
  });

  /** A dispatcher that looks when a test says so. */
  const aDispatcher = (holder: string, over: Partial<SharesDeps> = {}) => {
    const seen = {
      taken: [] as number[],
      lost: [] as number[],
      drained: [] as number[],
      silent: [] as string[],
      members: [] as number[],
      published: 0,
    };
    const deps: SharesDeps = {
      table: webhookShares(db()),
      holder,
      changed: { publish: () => void seen.published++, on: async () => () => undefined },
      onTaken: (share) => void seen.taken.push(share),
      onSilent: (holder) => void seen.silent.push(holder),
      onMembers: (count) => void seen.members.push(count),
      onLost: (share) => void seen.lost.push(share),
      drain: async (share) => void seen.drained.push(share),
      clock: { now: () => new Date(Date.now() + shiftMs + wallShiftMs) },
      monotonicMs: () => performance.now() + shiftMs,
      random: Math.random,
      timing: timings.usual,
      log,
      ...over,
    };
    return { shares: new Shares(deps), seen };
  };
  type Dispatcher = ReturnType<typeof aDispatcher>;
  const ownedBy = async (holder: string): Promise<number> =>
    (await webhookShares(db()).read(new Date())).owners.filter((owner) => owner.holder === holder).length;

  it("are all of them when it is alone, and it says that it has taken them", async () => {
    const { shares, seen } = aDispatcher("a");
    await shares.look();
    expect([shares.owned().length, seen.taken.length, seen.published]).to.deep.equal([shareCount, shareCount, 1]);
    await shares.look();
    expect([seen.taken.length, seen.published], "nothing has changed").to.deep.equal([shareCount, 1]);
    expect(shares.ownerOf(endpoint)).to.equal("a");
    expect(shares.fenceOf(endpoint)).to.be.a("number");
  });

  it("are divided among all that take part, whose number each hears", async () => {
    const [{ shares: a, seen: ofA }, { shares: b, seen: ofB }] = [aDispatcher("a"), aDispatcher("b")];
    await a.look();
    expect(ofA.members.at(-1)).to.equal(1);
    await b.look();
    await a.look();
    expect([ofA.members.at(-1), ofB.members.at(-1)]).to.deep.equal([2, 2]);
  });

  it("are not trusted for longer when the wall clock is put back, and nobody seems gone when it is put forward", async () => {
    const [{ shares: a }, { shares: b }] = [aDispatcher("a"), aDispatcher("b")];
    await until(async () => {
      for (const one of [a, b]) await one.look();
      return (await ownedBy("b")) === shareCount / 2;
    });
    wallShiftMs = 3_600_000;
    await b.look();
    expect(await ownedBy("a"), "put forward").to.equal(shareCount / 2);
    await a.look();
    wallShiftMs = -3_600_000;
    shiftMs = 9_000;
    expect(a.owned(), "put back").to.deep.equal([]);
  });

  it("are drained before another takes them, and nothing new begins for them meanwhile", async () => {
    const draining = Promise.withResolvers<void>();
    const one = aDispatcher("a", { drain: () => draining.promise });
    const other = aDispatcher("b");
    await one.shares.look();
    await other.shares.look();
    await one.shares.look();
    expect([await ownedBy("a"), await ownedBy("b")]).to.deep.equal([shareCount, 0]);
    const last = Array.from({ length: 1_000 }, (_, n) => `whk_${n}`).find((id) => shareOf(id) === shareCount - 1) ?? "";
    expect([one.shares.fenceOf(last), one.shares.isOwned(shareOf(last))]).to.deep.equal([null, true]);
    draining.resolve();
    await until(async () => (await ownedBy("a")) === shareCount / 2);
    await other.shares.look();
    expect([await ownedBy("b"), one.seen.lost]).to.deep.equal([shareCount / 2, []]);
    expect(other.shares.ownerOf(last)).to.equal("b");
  });

  it("are written by several at the same time without one of them being lost", async () => {
    const all = ["a", "b", "c", "d", "e"].map((holder) => aDispatcher(holder).shares);
    for (let round = 0; round < 12; round++) await Promise.all(all.map((shares) => shares.look()));
    const counts = await Promise.all(["a", "b", "c", "d", "e"].map(ownedBy));
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(shareCount);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    for (const shares of all) await shares.look();
    expect(new Set(all.map((shares) => shares.ownerOf(endpoint))).size, "all agree").to.equal(1);
  });

  it("are given back one by one when it stops, which waits for what is under way", async () => {
    const draining = Promise.withResolvers<void>();
    const one = aDispatcher("a", { drain: (share) => (share === 0 ? draining.promise : Promise.resolve()) });
    const other = aDispatcher("b");
    await one.shares.start(AbortSignal.timeout(10_000));
    const stopping = one.shares.stop(AbortSignal.timeout(20_000));
    await until(async () => (await ownedBy("a")) === 1);
    await other.shares.look();
    expect(await ownedBy("b")).to.equal(shareCount - 1);
    draining.resolve();
    await stopping;
    await other.shares.look();
    expect(await ownedBy("b")).to.equal(shareCount);
    expect((await webhookShares(db()).read(new Date())).members.map(({ holder }) => holder)).to.deep.equal(["b"]);
  });

  it("are not trusted once it stood still for eight seconds, until it has written again", async () => {
    const { shares } = aDispatcher("a");
    await shares.look();
    shiftMs = 8_000;
    expect([shares.fenceOf(endpoint), shares.owned().length]).to.deep.equal([null, 0]);
    await shares.look();
    expect(shares.fenceOf(endpoint)).to.be.a("number");
  });

  it("are another's once it stood still for longer, under a newer fence, and it finds out that they are lost", async () => {
    const [dead, other] = [aDispatcher("a"), aDispatcher("b")];
    await dead.shares.look();
    const fence = dead.shares.fenceOf(endpoint) ?? expect.fail();
    for (shiftMs = 0; shiftMs < 6_000; shiftMs += 2_000) await other.shares.look();
    expect([other.shares.ownerOf(endpoint), other.seen.silent]).to.deep.equal(["a", []]);
    await other.shares.look();
    expect([other.shares.ownerOf(endpoint), other.seen.silent], "it may be gone").to.deep.equal([null, ["a"]]);
    for (; shiftMs <= 12_000; shiftMs += 2_000) await other.shares.look();
    expect(other.shares.owned()).to.have.length(shareCount);
    expect(other.shares.fenceOf(endpoint)).to.equal(fence + 1);
    expect(dead.shares.fenceOf(endpoint)).to.equal(null);
    await dead.shares.look();
    expect([dead.seen.lost.length, dead.shares.ownerOf(endpoint)]).to.deep.equal([shareCount, "b"]);
  });

  it("are lost also while they are free, and taken anew under a newer fence", async () => {
    const [dead, one, other] = ["a", "b", "c"].map((holder) => aDispatcher(holder)) as [
      Dispatcher,
      Dispatcher,
      Dispatcher,
    ];
    for (let round = 0; round < 6; round++) for (const { shares } of [dead, one, other]) await shares.look();
    const had = dead.shares.owned();
    expect(had.length).to.be.within(21, 22);
    const { owners } = await webhookShares(db()).read(new Date());
    for (shiftMs = 2_000; (await ownedBy("a")) > 0; shiftMs += 2_000) {
      await one.shares.look();
      if ((await ownedBy("a")) > 0) await other.shares.look();
    }
    dead.seen.taken.length = 0;
    await dead.shares.look(); // some are free: it takes those that it is due
    expect(dead.seen.lost).to.have.members(had);
    const again = dead.seen.taken.filter((share) => had.includes(share));
    expect(again.length).to.be.above(0);
    const now = await webhookShares(db()).read(new Date());
    for (const share of again) expect(now.owners[share]?.fence).to.be.above(owners[share]?.fence ?? 0);
  });

  it("of one that does not answer have no known owner until it beats again", async () => {
    const [silent, asking] = [aDispatcher("a"), aDispatcher("b")];
    await silent.shares.look();
    await asking.shares.look();
    asking.shares.doubt("a");
    await asking.shares.look();
    expect(asking.shares.ownerOf(endpoint)).to.equal(null);
    shiftMs = 2_000;
    await silent.shares.look();
    await asking.shares.look();
    expect(asking.shares.ownerOf(endpoint)).to.not.equal(null);
  });
});
