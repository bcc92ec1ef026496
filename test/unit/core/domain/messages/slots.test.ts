import { expect } from "chai";
import { everyMsOf, isLate, nextSlot, reservedAtOnce, throttledSize } from "#core/domain/messages/slots.ts";

describe("instants of throttled sends", () => {
  const reserved = { fromMs: 1_000, count: 5, everyMs: 100 };

  const cases: { it: string; nowMs: number; expect: { atMs: number; left: number } | null }[] = [
    { it: "are taken ahead", nowMs: 500, expect: { atMs: 1_000, left: 4 } },
    { it: "are taken when they are there", nowMs: 1_000, expect: { atMs: 1_000, left: 4 } },
    { it: "are taken a moment late", nowMs: 1_020, expect: { atMs: 1_000, left: 4 } },
    { it: "are lost when they are over", nowMs: 1_021, expect: { atMs: 1_100, left: 3 } },
    { it: "are lost together when a program stood still", nowMs: 1_390, expect: { atMs: 1_400, left: 0 } },
    { it: "end with what was reserved", nowMs: 1_421, expect: null },
  ];
  for (const { it: what, nowMs, expect: wanted } of cases)
    it(what, () => {
      const slot = nextSlot(reserved, nowMs);
      expect(slot && { atMs: slot.atMs, left: slot.rest.count }).to.deep.equal(wanted);
    });

  it("are none of an empty stretch", () => expect(nextSlot({ ...reserved, count: 0 }, 0)).to.equal(null));

  it("follow from the rate", () => {
    expect(everyMsOf(3_000)).to.equal(20);
    expect([1, 60, 3_000, 1_000_000].map(reservedAtOnce)).to.deep.equal([1, 1, 25, 8_334]);
    expect([1, 60, 3_000].map((rate) => throttledSize(rate, 500))).to.deep.equal([1, 30, 500]);
    expect([isLate(1_000, 1_020), isLate(1_000, 1_021)]).to.deep.equal([false, true]);
  });
});
