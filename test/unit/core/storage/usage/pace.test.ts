import { expect } from "chai";
import { turnsLeftOut } from "#core/storage/usage/counter.ts";

describe("turns that a process leaves out after adding to rows of usage", () => {
  const cases = [
    { rows: 0, turns: 0 },
    { rows: 199, turns: 0 },
    { rows: 400, turns: 2 },
    { rows: 20_000, turns: 11 },
  ];
  for (const { rows, turns } of cases)
    it(`are ${turns} after ${rows}`, () => expect(turnsLeftOut(rows)).to.equal(turns));
});
