import { expect } from "chai";
import { budget } from "../../../../../dispatcher/webhooks/queues/budget.ts";

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
