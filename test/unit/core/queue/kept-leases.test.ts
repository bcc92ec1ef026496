import { expect } from "chai";
import { keptLeases } from "#core/queue/kept-leases.ts";
import { handClock } from "../../../support/rows/work.ts";

const leaseMs = 3_000;

/**
 * Leases `a` and `b` of one process, free unless another has some of them, and what the store was asked; the monotonic clock
 * goes on as far as it is told.
 */
const given = ({ ofOthers = "", forMs = 0, lost = "" } = {}) => {
  const asked: string[] = [];
  const clock = handClock();
  const until = new Date(clock.now().getTime() + forMs);
  let monotonicMs = 0;
  const ask = async (what: string, names: readonly string[]): Promise<readonly string[]> => {
    asked.push(`${what} ${names.toSorted().join(" ")}`);
    return names;
  };
  const isOther = (name: string): boolean => ofOthers.includes(name) && until > clock.now();
  const leases = keptLeases({
    leaseMs,
    clock,
    leases: {
      take: async (names) => (await ask("take", names)).filter((name) => !isOther(name)),
      extend: async (names) => !(await ask("extend", names)).some((name) => lost.includes(name)),
      look: async (names) => {
        const left = (await ask("look", names)).filter((name) => !lost.includes(name));
        return new Map(left.map((name) => [name, { isOwn: !isOther(name), until }]));
      },
      release: async (names) => void (await ask("release", names)),
    },
    monotonicMs: () => monotonicMs,
  });
  const goOn = (ms: { wall: number; monotonic: number }): void => {
    clock.tick(ms.wall);
    monotonicMs += ms.monotonic;
  };
  const goOnBoth = (ms: number): void => goOn({ wall: ms, monotonic: ms });
  const [lease, other] = [leases.keep("a"), leases.keep("b")];
  const areOurs = () => Promise.all([lease.isOurs(), other.isOurs()]);
  return { lease, other, areOurs, asked, goOn, goOnBoth };
};

const taken = ["look a b", "take a b"];

describe("the leases of timer sources", () => {
  it("are taken together, and asked for once in a half of their time", async () => {
    const { areOurs, asked, goOnBoth } = given();
    for (let n = 0; n < 10; n++) {
      expect(await areOurs()).to.deep.equal([true, true]);
      goOnBoth(100);
    }
    expect(asked).to.deep.equal(taken);
  });

  it("are taken anew after a standstill in which the monotonic clock stood, too", async () => {
    const { areOurs, asked, goOn } = given();
    await areOurs();
    goOn({ wall: leaseMs, monotonic: 0 });
    expect(await areOurs()).to.deep.equal([true, true]);
    expect(asked).to.deep.equal([...taken, ...taken]);
  });

  it("are extended in time by a wall clock that was put back", async () => {
    const { areOurs, asked, goOn } = given();
    await areOurs();
    goOn({ wall: -3_600_000, monotonic: leaseMs / 2 });
    await areOurs();
    goOn({ wall: 0, monotonic: leaseMs });
    await areOurs();
    expect(asked).to.deep.equal([...taken, "extend a b", ...taken]);
  });

  it("are left alone while another has them, and taken when that one's time is over", async () => {
    const { areOurs, asked, goOnBoth } = given({ ofOthers: "a b", forMs: 2_000 });
    for (let n = 0; n < 4; n++) {
      expect(await areOurs()).to.deep.equal([false, false]);
      goOnBoth(500);
    }
    expect(await areOurs()).to.deep.equal([true, true]);
    expect(asked).to.deep.equal(["look a b", ...taken]);
  });

  it("are taken one without the other where another process has that", async () => {
    const { areOurs, asked } = given({ ofOthers: "b", forMs: 2_000 });
    expect(await areOurs()).to.deep.equal([true, false]);
    expect(await areOurs()).to.deep.equal([true, false]);
    expect(asked).to.deep.equal(["look a b", "take a"]);
  });

  it("are extended by one command, whoever asks first", async () => {
    const { areOurs, asked, goOnBoth } = given();
    await areOurs();
    goOnBoth(leaseMs / 2);
    expect(await areOurs()).to.deep.equal([true, true]);
    expect(asked).to.deep.equal([...taken, "extend a b"]);
  });

  it("stay once the process has lost another, which is taken again where it is free", async () => {
    const { areOurs, asked, goOnBoth } = given({ lost: "b" });
    await areOurs();
    goOnBoth(leaseMs / 2);
    expect(await areOurs()).to.deep.equal([true, true]);
    expect(asked).to.deep.equal([...taken, "extend a b", "look a b", "look b", "take b"]);
  });

  it("are given back together, and not taken or extended any more", async () => {
    const { lease, other, areOurs, asked, goOnBoth } = given();
    await areOurs();
    await lease.release();
    goOnBoth(leaseMs / 2);
    expect(await other.isOurs()).to.equal(true);
    expect(asked).to.deep.equal([...taken, "release a", "extend b"]);
    const again = given();
    await again.areOurs();
    await Promise.all([again.lease.release(), again.other.release()]);
    expect(again.asked).to.deep.equal([...taken, "release a b"]);
  });

  it("are given back also while they are being taken", async () => {
    const { lease, areOurs, asked } = given();
    const taking = areOurs();
    while (asked.length < taken.length) await Promise.resolve();
    await lease.release();
    expect(await taking).to.deep.equal([false, true]);
    expect(asked).to.deep.equal([...taken, "release a"]);
  });
});
