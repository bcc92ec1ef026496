import { expect } from "chai";
import { keptLeases } from "#core/queue/kept-leases.ts";
import { handClock } from "../../../support/rows/work.ts";

const leaseMs = 3_000;

/**
 * Leases, free unless another has them, and what was asked of the first one and of all; the monotonic clock goes on as far as
 * it is told.
 */
const given = ({ othersForMs = 0, hasAll = true, takes = Promise.resolve() } = {}) => {
  const asked: string[] = [];
  const clock = handClock();
  const freeAt = othersForMs > 0 ? new Date(clock.now().getTime() + othersForMs) : null;
  let monotonicMs = 0;
  let isTaken = false; // and nobody has been told
  const leases = keptLeases({
    leaseMs,
    clock,
    leaseOf: (name) => {
      const ask = (what: string) => void (name === "a" && asked.push(what));
      return {
        take: async () => {
          ask("take");
          if (name !== "a") return { fence: 1 };
          isTaken = true;
          await takes;
          isTaken = false;
          return { fence: 1 };
        },
        extend: async () => (ask("extend"), name === "a"),
        release: async () => undefined,
      };
    },
    freeAtOf: async (names) => {
      asked.push(`look ${names.join(" ")}`);
      const end = freeAt ?? (isTaken ? new Date(clock.now().getTime() + leaseMs) : null);
      return new Map(end === null ? [] : names.filter((name) => name === "a" || freeAt).map((name) => [name, end]));
    },
    extendAll: async (names) => (asked.push(`extend ${names.join(" ")}`), hasAll),
    monotonicMs: () => monotonicMs,
  });
  const goOn = (ms: { wall: number; monotonic: number }): void => {
    clock.tick(ms.wall);
    monotonicMs += ms.monotonic;
  };
  return { lease: leases.keep("a"), other: leases.keep("b"), asked, goOn };
};

describe("the lease of a timer source", () => {
  it("is taken anew after a standstill in which the monotonic clock stood, too", async () => {
    const { lease, asked, goOn } = given();
    await lease.isOurs();
    goOn({ wall: leaseMs, monotonic: 0 });
    expect(await lease.isOurs()).to.equal(true);
    expect(asked).to.deep.equal(["look a b", "take", "look a b", "take"]);
  });

  it("is extended in time by a wall clock that was put back", async () => {
    const { lease, asked, goOn } = given();
    await lease.isOurs();
    goOn({ wall: -3_600_000, monotonic: leaseMs / 2 });
    await lease.isOurs();
    goOn({ wall: 0, monotonic: leaseMs });
    await lease.isOurs();
    expect(asked).to.deep.equal(["look a b", "take", "extend a", "look a b", "take"]);
  });

  it("is asked for once in a half of its time", async () => {
    const { lease, asked, goOn } = given();
    for (let n = 0; n < 10; n++) {
      await lease.isOurs();
      goOn({ wall: 100, monotonic: 100 });
    }
    expect(asked).to.deep.equal(["look a b", "take"]);
  });

  it("is left alone while another has it, and taken when that one's time is over", async () => {
    const { lease, asked, goOn } = given({ othersForMs: 2_000 });
    for (let n = 0; n < 4; n++) {
      expect(await lease.isOurs()).to.equal(false);
      goOn({ wall: 500, monotonic: 500 });
    }
    expect(await lease.isOurs()).to.equal(true);
    expect(asked).to.deep.equal(["look a b", "look a b", "take"]);
  });

  it("is extended with all others of the process by one command, whoever asks first", async () => {
    const { lease, other, asked, goOn } = given();
    await Promise.all([lease.isOurs(), other.isOurs()]);
    goOn({ wall: leaseMs / 2, monotonic: leaseMs / 2 });
    expect(await Promise.all([other.isOurs(), lease.isOurs()])).to.deep.equal([true, true]);
    expect(asked).to.deep.equal(["look a b", "take", "extend b a"]);
  });

  it("is extended by itself once the process has lost another, which is taken again where it is free", async () => {
    const { lease, other, asked, goOn } = given({ hasAll: false });
    await Promise.all([lease.isOurs(), other.isOurs()]);
    goOn({ wall: leaseMs / 2, monotonic: leaseMs / 2 });
    expect(await Promise.all([other.isOurs(), lease.isOurs()])).to.deep.equal([true, true]);
    expect(asked).to.deep.equal(["look a b", "take", "extend b a", "extend", "look b"]);
  });

  it("is not extended any more once it was given back", async () => {
    const { lease, other, asked, goOn } = given();
    await Promise.all([lease.isOurs(), other.isOurs()]);
    await lease.release();
    goOn({ wall: leaseMs / 2, monotonic: leaseMs / 2 });
    await other.isOurs();
    expect(asked).to.deep.equal(["look a b", "take", "extend b"]);
  });

  it("is ours also when it was looked at between its taking and the reply", async () => {
    const { promise: takes, resolve } = Promise.withResolvers<void>();
    const { lease, other, asked, goOn } = given({ takes });
    const taking = lease.isOurs();
    await other.isOurs();
    await other.release();
    await other.isOurs();
    expect(asked).to.deep.equal(["look a b", "take", "look a b"]);
    resolve();
    expect(await taking).to.equal(true);
    goOn({ wall: leaseMs / 2, monotonic: leaseMs / 2 });
    expect(await lease.isOurs()).to.equal(true);
    expect(asked.at(-1)).to.equal("extend b a");
  });
});
