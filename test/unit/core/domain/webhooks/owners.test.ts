import { expect } from "chai";
import { balance, type OwnerTable } from "#core/domain/webhooks/owners.ts";

const empty = (parts: number): OwnerTable => ({
  members: [],
  owners: Array.from({ length: parts }, () => ({ holder: null, fence: 0 })),
});

/** Numbers that follow from a seed, so that a run that fails can be repeated. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

/** Processes that write the table in turn. */
class Dispatchers {
  table: OwnerTable;
  moves = 0;
  readonly running = new Set<string>();
  readonly leaving = new Set<string>();
  readonly killed = new Set<string>();
  readonly drained = new Map<string, Set<number>>();

  constructor(parts = 64) {
    this.table = empty(parts);
  }

  write(me: string): boolean {
    const before = this.table;
    const drained = this.drained.get(me) ?? new Set();
    const { table, excess } = balance(before, { me, isLeaving: this.leaving.has(me), gone: this.killed, drained });
    this.drained.set(me, new Set(excess));
    for (const [part, { holder, fence }] of table.owners.entries()) {
      const was = before.owners[part] ?? { holder: null, fence: 0 };
      if (holder === was.holder) continue;
      this.moves += holder === null ? 0 : 1;
      const isFree = was.holder === null || this.killed.has(was.holder);
      expect(isFree || was.holder === me, `${me} took ${part} of ${was.holder}`).to.equal(true);
      if (holder !== null) expect([holder, fence]).to.deep.equal([me, was.fence + 1]);
      if (was.holder === me) expect(drained.has(part), "it gave up what it had not drained").to.equal(true);
    }
    this.table = table;
    if (!table.members.some(({ holder }) => holder === me)) this.running.delete(me);
    return JSON.stringify(before.owners) !== JSON.stringify(table.owners);
  }

  settle(): void {
    for (let round = 0; [...this.running].map((me) => this.write(me)).includes(true) || round < 2; round++)
      expect(round, "rounds until nothing changes").to.be.below(12);
  }

  counts(): Record<string, number> {
    const owned = Map.groupBy(this.table.owners, ({ holder }) => holder ?? "nobody");
    return Object.fromEntries([...owned].map(([holder, of]) => [holder, of.length]));
  }
}

const withRunning = (...names: string[]): Dispatchers => {
  const all = new Dispatchers();
  for (const name of names) {
    all.running.add(name);
    all.settle();
  }
  return all;
};

describe("the balance of owners", () => {
  it("gives all to one that is alone, and an even part to each", () => {
    expect(withRunning("a").counts()).to.deep.equal({ a: 64 });
    expect(withRunning("a", "b").counts()).to.deep.equal({ a: 32, b: 32 });
    expect(Object.values(withRunning("a", "b", "c").counts())).to.have.members([21, 21, 22]);
  });

  it("gives sixteen parts to sixteen of 64, and those of owners that die to others that had none", () => {
    const all = new Dispatchers(16);
    for (let n = 0; n < 64; n++) all.running.add(`d${n}`);
    all.settle();
    const owners = Object.keys(all.counts());
    expect(Object.values(all.counts())).to.deep.equal(Array(16).fill(1));
    all.moves = 0;
    for (const dead of owners.slice(0, 8)) {
      all.running.delete(dead);
      all.killed.add(dead);
    }
    all.settle();
    expect([all.moves, Object.values(all.counts())]).to.deep.equal([8, Array(16).fill(1)]);
    expect(Object.keys(all.counts())).to.include.members(owners.slice(8));
  });

  it("has one that yields give up all that it has drained, and take nothing, without leaving", () => {
    const { table: before } = withRunning("a", "b");
    const drained = new Set([0, 1, 2]);
    const { table, excess } = balance(before, {
      me: "a",
      isLeaving: false,
      isYielding: true,
      gone: new Set(),
      drained,
    });
    const mine = before.owners.flatMap(({ holder }, part) => (holder === "a" ? [part] : []));
    expect(excess).to.deep.equal(mine);
    const kept = mine.filter((part) => !drained.has(part));
    expect(table.owners.flatMap(({ holder }, part) => (holder === "a" ? [part] : []))).to.deep.equal(kept);
    expect(table.members.map(({ holder }) => holder)).to.have.members(["a", "b"]);
  });

  it("moves no more than the newcomer's part, and no more than the part of one that left or died", () => {
    const all = withRunning("b", "c", "d");
    all.moves = 0;
    all.running.add("a");
    all.settle();
    expect([all.moves, all.counts()["a"]]).to.deep.equal([16, 16]);
    all.moves = 0;
    all.leaving.add("a");
    all.settle();
    expect([all.moves, all.counts()["a"]]).to.deep.equal([16, undefined]);
    const part = all.counts()["c"];
    all.moves = 0;
    all.running.delete("c");
    all.killed.add("c");
    all.settle();
    expect(all.moves).to.equal(part);
  });

  it("gives up a part only once it is drained, and leaves it to nobody before", () => {
    const all = withRunning("a");
    all.running.add("b");
    all.drained.set("a", new Set());
    all.write("b");
    all.write("a"); // it hears of the other: nothing is drained yet
    all.write("b");
    expect(all.counts()).to.deep.equal({ a: 64 });
    all.settle();
    expect(all.counts()).to.deep.equal({ a: 32, b: 32 });
  });

  for (let seed = 1; seed <= 20; seed++)
    it(`comes to rest with one owner each, whoever joins, leaves and dies in whatever order: ${seed}`, () => {
      const random = randomOf(seed);
      const all = new Dispatchers();
      const one = (): string => [...all.running][Math.floor(random() * all.running.size)] ?? "";
      for (let step = 0; step < 400; step++) {
        const chance = random();
        if (all.running.size === 0 || chance < 0.04) all.running.add(`${seed}-${step}`);
        else if (chance < 0.06) all.leaving.add(one());
        else if (chance < 0.08) {
          const dead = one();
          all.running.delete(dead);
          all.killed.add(dead);
        } else all.write(one());
      }
      all.running.add("last");
      all.settle();
      const counts = all.counts();
      expect(counts["nobody"]).to.equal(undefined);
      expect(Object.keys(counts).sort()).to.deep.equal([...all.running].sort());
      expect(Math.max(...Object.values(counts)) - Math.min(...Object.values(counts))).to.be.at.most(1);
    });
});
