import { expect } from "chai";
import { mayBeUrgent, type Spent, spentWith } from "#core/domain/live-activities/budget.ts";

const began = new Date("2026-11-23T12:00:00Z");
const after = (seconds: number): Date => new Date(began.getTime() + seconds * 1000);

/** How many of the updates that come every so many seconds may go with priority 10. */
const urgent = (everySeconds: number, isFrequent: boolean, seconds: number): number => {
  let spent: Spent | null = null;
  let count = 0;
  for (let at = 0; at < seconds; at += everySeconds) {
    if (!mayBeUrgent(spent, isFrequent, after(at))) continue;
    spent = spentWith(spent, after(at));
    count++;
  }
  return count;
};

describe("the budget of a live activity", () => {
  it("admits the first update", () => {
    expect(mayBeUrgent(null, false, began)).to.equal(true);
  });

  it("admits one in half a minute, and in five seconds where the app has frequent updates", () => {
    expect([urgent(1, false, 300), urgent(1, true, 300)]).to.deep.equal([10, 60]);
  });

  it("admits 60 in an hour, and 360 where the app has frequent updates", () => {
    expect([urgent(1, false, 3600), urgent(1, true, 3600)]).to.deep.equal([60, 360]);
  });

  it("admits hardly more in any other hour", () => {
    const spentInFirst = urgent(1, false, 3600);
    expect(urgent(1, false, 2 * 3600) - spentInFirst).to.be.within(55, 65);
    expect(urgent(1, false, 6 * 3600)).to.be.within(5 * 55, 6 * 65);
  });

  it("has forgotten everything after two quiet hours", () => {
    const full: Spent = { since: began, count: 62, before: 60, last: after(3599) };
    expect([mayBeUrgent(full, false, after(3640)), mayBeUrgent(full, false, after(2 * 3600))]).to.deep.equal([
      false,
      true,
    ]);
  });
});
