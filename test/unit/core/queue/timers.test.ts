import { expect } from "chai";
import { keptLease } from "#core/queue/timers.ts";
import { handClock } from "../../../support/rows/work.ts";

const leaseMs = 3_000;

/** A lease, free unless another has it, and what was asked of it; the monotonic clock goes on as far as it is told. */
const given = ({ othersForMs = 0 } = {}) => {
  const asked: string[] = [];
  const clock = handClock();
  const freeAt = othersForMs > 0 ? new Date(clock.now().getTime() + othersForMs) : null;
  let monotonicMs = 0;
  const lease = keptLease(
    {
      freeAt: async () => (asked.push("look"), freeAt),
      take: async () => (asked.push("take"), { fence: 1 }),
      extend: async () => asked.push("extend") > 0,
      release: async () => undefined,
    },
    clock,
    () => monotonicMs,
  );
  const goOn = (ms: { wall: number; monotonic: number }): void => {
    clock.tick(ms.wall);
    monotonicMs += ms.monotonic;
  };
  return { lease, asked, goOn };
};

describe("the lease of a timer source", () => {
  it("is taken anew after a standstill in which the monotonic clock stood, too", async () => {
    const { lease, asked, goOn } = given();
    await lease.isOurs();
    goOn({ wall: leaseMs, monotonic: 0 });
    expect(await lease.isOurs()).to.equal(true);
    expect(asked).to.deep.equal(["look", "take", "look", "take"]);
  });

  it("is extended in time by a wall clock that was put back", async () => {
    const { lease, asked, goOn } = given();
    await lease.isOurs();
    goOn({ wall: -3_600_000, monotonic: leaseMs / 2 });
    await lease.isOurs();
    goOn({ wall: 0, monotonic: leaseMs });
    await lease.isOurs();
    expect(asked).to.deep.equal(["look", "take", "extend", "look", "take"]);
  });

  it("is asked for once in a half of its time", async () => {
    const { lease, asked, goOn } = given();
    for (let n = 0; n < 10; n++) {
      await lease.isOurs();
      goOn({ wall: 100, monotonic: 100 });
    }
    expect(asked).to.deep.equal(["look", "take"]);
  });

  it("is left alone while another has it, and taken when that one's time is over", async () => {
    const { lease, asked, goOn } = given({ othersForMs: 2_000 });
    for (let n = 0; n < 4; n++) {
      expect(await lease.isOurs()).to.equal(false);
      goOn({ wall: 500, monotonic: 500 });
    }
    expect(await lease.isOurs()).to.equal(true);
    expect(asked).to.deep.equal(["look", "look", "take"]);
  });
});
