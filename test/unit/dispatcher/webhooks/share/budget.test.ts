import { expect } from "chai";
import { pace } from "../../../../../dispatcher/webhooks/queue/pace.ts";
import { budget } from "../../../../../dispatcher/webhooks/share/budget.ts";

describe("a budget", () => {
  it("lets things in while there is room, and the others when there is again, in order", async () => {
    const memory = budget(10);
    const entered: string[] = [];
    await memory.enter(8);
    const waiting = [
      memory.enter(5).then(() => entered.push("first")),
      memory.enter(1).then(() => entered.push("second")),
    ];
    await new Promise(setImmediate);
    expect(entered).to.deep.equal([]);
    memory.leave(8);
    await Promise.all(waiting);
    expect(entered).to.deep.equal(["first", "second"]);
    expect(memory.used()).to.equal(6);
  });

  it("lets more than it has room for in alone", async () => {
    const memory = budget(10);
    await memory.enter(50);
    expect(memory.used()).to.equal(50);
  });
});

describe("a pace", () => {
  it("sets no limit when there is none", () => {
    expect(pace(null).take(0)).to.equal(0);
  });

  it("spreads turns evenly and says how long to wait", () => {
    const turns = pace(10);
    const begun = Array.from({ length: 1000 }, (_, ms) => turns.take(10_000 + ms)).filter((waitMs) => waitMs === 0);
    expect(begun.length).to.be.within(10, 12);
    expect(turns.take(11_000)).to.be.within(0, 100);
  });
});
