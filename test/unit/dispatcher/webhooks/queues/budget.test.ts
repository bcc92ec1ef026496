import { expect } from "chai";
import { budget } from "../../../../../dispatcher/webhooks/queues/budget.ts";

describe("a budget", () => {
  /** Who has entered, in order, of those that came with `enter`. */
  const watched = (most: number) => {
    const memory = budget(most);
    const entered: string[] = [];
    const enter = (tenant: string, size: number, name = tenant): void =>
      void memory.enter(tenant, size).then(() => entered.push(name));
    return { memory, entered, enter };
  };

  it("lets things in while there is room, and the others when there is again, in order", async () => {
    const { memory, entered, enter } = watched(20);
    await memory.enter("a", 8);
    enter("a", 5, "first");
    enter("a", 1, "second");
    await new Promise(setImmediate);
    expect(entered).to.deep.equal([]);
    memory.leave("a", 8);
    await new Promise(setImmediate);
    expect(entered).to.deep.equal(["first", "second"]);
    expect(memory.used()).to.equal(6);
  });

  it("lets more than it has room for in alone", async () => {
    const memory = budget(10);
    await memory.enter("a", 50);
    expect(memory.used()).to.equal(50);
  });

  it("keeps half of what the others leave from a tenant, so that another enters at once", async () => {
    const { entered, enter } = watched(100);
    for (let n = 0; n < 100; n++) enter("a", 1);
    await new Promise(setImmediate);
    expect(entered).to.have.length(50);
    for (let n = 0; n < 100; n++) enter("b", 1);
    await new Promise(setImmediate);
    expect(entered.filter((tenant) => tenant === "b")).to.have.length(25);
  });

  it("lets tenants that wait in by turns", async () => {
    const { memory, entered, enter } = watched(8);
    await memory.enter("full", 8);
    for (const tenant of ["a", "a", "a", "b", "b", "c"]) enter(tenant, 1);
    memory.leave("full", 8);
    await new Promise(setImmediate);
    expect(entered.slice(0, 3)).to.deep.equal(["a", "b", "c"]);
  });
});
