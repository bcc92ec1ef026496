import { expect } from "chai";
import { giveBackMemoryWhenIdle } from "#core/runtime/process/idle-memory.ts";

describe("the memory that only a start needed", () => {
  it("is given back once, as soon as the program has hardly worked between two looks", async () => {
    const parts = [0.9, 0.08, 0.07, 0, 0];
    const looks: number[] = [];
    const given = await new Promise<number[]>((resolve) => {
      const given: number[] = [];
      const worked = (): number => {
        looks.push(parts.shift() ?? 0);
        return looks.at(-1) ?? 0;
      };
      const giveBack = (): void => {
        given.push(looks.length);
        setTimeout(() => resolve(given), 10); // in which it would look again
      };
      giveBackMemoryWhenIdle({ giveBack, worked, everyMs: 1 });
    });
    expect(given).to.deep.equal([3]);
    expect(looks).to.deep.equal([0.9, 0.08, 0.07]);
  });
});
