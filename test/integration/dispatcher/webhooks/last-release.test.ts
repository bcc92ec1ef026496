import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { keeperBeat } from "#core/domain/webhooks/former-owners.ts";
import { balance } from "#core/domain/webhooks/owners.ts";
import { shareCount } from "#core/domain/webhooks/shares.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import { beats } from "../../../../dispatcher/webhooks/partitions/beats.ts";
import { Partitions } from "../../../../dispatcher/webhooks/partitions/partitions.ts";
import { partitionCount, testPartitioning } from "../../../support/rows/partitioning.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

const log = createLog({ program: "dispatcher", level: "fatal" });

describe("dispatchers of this release and of the last", () => {
  const db = testDatabase("last_release");
  let shiftMs = 0;

  beforeEach(async () => {
    shiftMs = 0;
    await db().collection("webhook_shares").deleteMany({});
  });

  const clock = { now: () => new Date(Date.now() + shiftMs) };
  const aDispatcher = (holder: string, drain: () => Promise<void> = () => Promise.resolve()) => {
    const partitions = new Partitions({
      tables: webhookOwners(db(), testPartitioning),
      holder,
      changed: { publish: () => undefined, on: async () => () => undefined },
      onTaken: () => undefined,
      onLost: () => undefined,
      drain,
      onSilent: () => undefined,
      onMembers: () => undefined,
      clock,
      monotonicMs: () => performance.now() + shiftMs,
      random: Math.random,
      timing: timings.usual,
      log,
    });
    const read = async (): Promise<number> => {
      await partitions.look();
      const { owners } = await webhookOwners(db(), testPartitioning).partitions.read(clock.now());
      return owners.filter((owner) => owner.holder === holder).length;
    };
    return {
      look: () => partitions.look(),
      read,
      served: () => partitions.owned().length,
      elsewhere: () => partitions.isElsewhere(1),
      fence: () => partitions.fenceOf(1),
    };
  };
  /** A dispatcher of the last release: it reads and writes its table as that did. */
  const aFormer = (holder: string) => {
    const { former } = webhookOwners(db(), testPartitioning);
    const state = { isLeaving: false, drained: new Set<number>() };
    const goneOf = beats(timings.usual.owners);
    const owned = async () => {
      const { owners } = await former.read(clock.now());
      return owners.filter((owner) => owner.holder === holder);
    };
    return {
      state,
      /** How many shares it serves then, and the lowest fence of them. */
      look: async (): Promise<{ shares: number; fence: number }> => {
        const before = await former.read(clock.now());
        const { table, excess } = balance(before, {
          me: holder,
          ...state,
          gone: goneOf(before.members, performance.now() + shiftMs).gone,
        });
        await former.replace(before, table);
        state.drained = new Set(excess);
        const mine = await owned();
        return { shares: mine.length, fence: Math.min(...mine.map(({ fence }) => fence)) };
      },
    };
  };

  it("never serve both: those of this one only read while one of the last is there, and serve once it has left", async () => {
    const [former, one, other] = [aFormer("old"), aDispatcher("a"), aDispatcher("b")];
    expect((await former.look()).shares).to.equal(shareCount);
    for (let round = 0; round < 3; round++)
      for (const dispatcher of [one, other]) expect([await dispatcher.read(), dispatcher.served()][1]).to.equal(0);
    expect([await one.read(), await other.read()], "they read").to.deep.equal([partitionCount / 2, partitionCount / 2]);
    expect([one.elsewhere(), other.elsewhere()], "the last release serves").to.deep.equal([true, true]);
    const { fence } = await former.look();
    former.state.isLeaving = true;
    for (let round = 0; round < 2; round++) await former.look();
    for (const dispatcher of [one, other]) await dispatcher.look();
    expect([one.served(), other.served()]).to.deep.equal([partitionCount / 2, partitionCount / 2]);
    expect([one.elsewhere(), other.elsewhere()], "one of them serves it").to.have.members([false, true]);
    expect(one.fence() ?? other.fence(), "above all that the last release had").to.be.above(fence);
  });

  it("serve once the last one of the last release was killed, ten seconds later", async () => {
    const [former, one] = [aFormer("old"), aDispatcher("a")];
    await former.look();
    for (; shiftMs < 9_000; shiftMs += 2_000) await one.look();
    expect(one.served()).to.equal(0);
    for (; shiftMs <= 12_000; shiftMs += 2_000) await one.look();
    expect(one.served()).to.equal(partitionCount);
  });

  it("give all back to one of the last release that comes again, once they are drained, under newer fences", async () => {
    const draining = Promise.withResolvers<void>();
    const one = aDispatcher("a", () => draining.promise);
    await one.look();
    const fence = one.fence() ?? expect.fail();
    const former = aFormer("old");
    expect((await former.look()).shares, "all are kept").to.equal(0);
    for (let round = 0; round < 3; round++) await one.look();
    expect((await former.look()).shares, "something is under way").to.equal(0);
    draining.resolve();
    await until(async () => {
      await one.look();
      return (await former.look()).shares === shareCount;
    });
    expect(one.served()).to.equal(0);
    expect((await former.look()).fence).to.be.above(fence);
    expect(await one.read(), "it reads again").to.equal(partitionCount);
  });

  it("beat in the last release's table one for all, and another once that one was killed", async () => {
    const [one, other] = [aDispatcher("a"), aDispatcher("b")];
    const beatOf = async () => keeperBeat(await webhookOwners(db(), testPartitioning).former.read(clock.now()));
    const beatsOf = async (looking: readonly (typeof one)[], rounds = 6): Promise<number> => {
      const before = await beatOf();
      for (let round = 0; round < rounds; round++, shiftMs += 2_000) for (const { look } of looking) await look();
      return (await beatOf()) - before;
    };
    await beatsOf([one, other]);
    expect(await beatsOf([one, other])).to.equal(6);
    for (const left of [one, other]) expect(await beatsOf([left]), "sees it with its second look").to.be.within(5, 6);
  });

  it("agree on one of the two, whoever comes, stops and is killed in whatever order", async () => {
    const random = randomOf(17);
    const formers = new Map<string, ReturnType<typeof aFormer>>();
    const ours = new Map<string, ReturnType<typeof aDispatcher>>();
    const served = { byFormers: 0, byOurs: 0 };
    for (let step = 0; step < 120; step++) {
      const chance = random();
      const isTheirTime = step % 60 < 30; // they come in one half of a minute, and are killed in the other
      if (chance < 0.2 && isTheirTime && formers.size < 2) formers.set(`old-${step}`, aFormer(`old-${step}`));
      else if (chance < 0.4 && !isTheirTime) formers.delete([...formers.keys()][0] ?? "");
      else if (chance < 0.6 && ours.size < 3) ours.set(`new-${step}`, aDispatcher(`new-${step}`));
      else if (chance < 0.7) ours.delete([...ours.keys()][0] ?? "");
      shiftMs += 1_000;
      for (const one of random() < 0.5 ? [...ours.values()].toReversed() : ours.values()) await one.look();
      const shares = await Promise.all([...formers.values()].map(async (former) => (await former.look()).shares));
      const byOurs = [...ours.values()].reduce((sum, one) => sum + one.served(), 0);
      const byFormers = shares.reduce((sum, count) => sum + count, 0);
      expect(byOurs === 0 || byFormers === 0, `step ${step}: ${byOurs} and ${byFormers} are served`).to.equal(true);
      if (byOurs > 0) served.byOurs++;
      if (byFormers > 0) served.byFormers++;
    }
    expect(Math.min(served.byFormers, served.byOurs), "both had their time").to.be.above(10);
  });
});

/** Numbers that follow from a seed, so that a run that fails can be repeated. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
