import { expect } from "chai";
import { isHoldoutOn, isInHoldout, variantOf } from "#core/domain/experiments/assignment.ts";
import { partOf, parts, placeOf } from "#core/domain/experiments/shares.ts";

const people = Array.from({ length: 5_000 }, (_, i) => `usr_${i}`);
const variants = (...weights: number[]) => weights.map((weight_percent, place) => ({ weight_percent, place }));
const holdout = { percent: 5, salt: "", starts_at: "2026-03-01", ends_at: "2026-04-01", exempt_categories: ["codes"] };

describe("the assignment of people to variants", () => {
  it("follows from the message and the person alone, and is the one that was published", () => {
    expect(partOf("msg_1", "usr_1")).to.equal(partOf("msg_1", "usr_1"));
    expect([partOf("msg_1", "usr_1"), partOf("msg_2", "usr_1"), partOf("msg_1", "usr_2")]).to.deep.equal([
      4009, 6669, 8183,
    ]);
  });

  it("gives each variant its part, in every message another one", () => {
    const [sizes, both] = [
      [0, 0, 0],
      [0, 0],
    ];
    for (const person of people) {
      const place = variantOf("msg_1", variants(50, 30, 20), person)?.place ?? 0;
      sizes[place] = (sizes[place] ?? 0) + 1;
      if (place === 0) both[(variantOf("msg_2", variants(50, 50), person)?.place ?? 0) as 0 | 1]!++;
    }
    expect(sizes[0]).to.be.within(2_350, 2_650); // four standard deviations
    expect(sizes[1]).to.be.within(1_370, 1_630);
    expect(both[0]! / (sizes[0] ?? 1)).to.be.within(0.46, 0.54);
  });

  it("moves nobody but those between the borders when a weight changes", () => {
    const moved = people.filter(
      (one) => variantOf("msg_1", variants(50, 50), one)?.place !== variantOf("msg_1", variants(51, 49), one)?.place,
    );
    expect(moved.length).to.be.within(20, 85); // one per cent
    for (const one of moved) expect(variantOf("msg_1", variants(51, 49), one)?.place).to.equal(0);
  });

  it("reaches somebody with every part, and nobody with a weight of 0", () => {
    expect([0, parts - 1].map((part) => placeOf([33.33, 33.33, 33.33], part))).to.deep.equal([0, 2]);
    expect([0, parts - 1].map((part) => placeOf([0, 100, 0], part))).to.deep.equal([1, 1]);
  });

  it("holds out the same people of all messages of an app, as many as it says, and other ones by another salt", () => {
    const out = (salt: string) =>
      new Set(people.filter((one) => isInHoldout({ ...holdout, salt }, { appId: "app_1" }, one)));
    const [first, other] = [out(""), out("2")];
    expect(first.size).to.be.within(190, 310);
    expect(out("")).to.deep.equal(first);
    expect([...first].filter((one) => other.has(one)).length).to.be.below(40);
  });

  const asked: { it: string; at: string; category?: string; change?: object; isOn: boolean }[] = [
    { it: "between its instants", at: "2026-03-15", isOn: true },
    { it: "before it begins", at: "2026-02-28", isOn: false },
    { it: "once it has ended", at: "2026-04-01", isOn: false },
    { it: "of a category that is exempt", at: "2026-03-15", category: "codes", isOn: false },
    { it: "of no per cent", at: "2026-03-15", change: { percent: 0 }, isOn: false },
  ];
  for (const { it: what, at, category = null, change, isOn } of asked)
    it(`is ${isOn ? "" : "not "}asked of a holdout ${what}`, () => {
      const of = { appId: "app_1", category, at: new Date(at) };
      expect(isHoldoutOn({ ...holdout, ...change }, of)).to.equal(isOn);
    });
});
