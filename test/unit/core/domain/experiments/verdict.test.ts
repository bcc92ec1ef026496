import { expect } from "chai";
import { type Contender, chosenIn, verdictOf } from "#core/domain/experiments/verdict.ts";
import type { Winner } from "#core/schema/messages/winner.ts";
import { simulate } from "../../../../support/experiments/simulate.ts";
import { inSuite } from "../../../../support/suite/soak.ts";

const rules = ["bayes", "fixed", "anytime"] as const;
const asked = (rule: Winner["rule"], contenders: Contender[], otherwise: Winner["if_undecided"] = "best") => ({
  rule,
  contenders,
  min_per_variant: 1_000,
  if_undecided: otherwise,
});
const contender = (id: string, n: number, conversions: number, weight = 50): Contender => ({
  id,
  weight,
  assigned: n,
  n,
  conversions,
});

describe("the verdict on variants", () => {
  for (const rule of rules) {
    it(`by ${rule} is for one that is clearly better, and says by how much`, () => {
      const verdict = verdictOf(asked(rule, [contender("a", 50_000, 5_000), contender("b", 50_000, 6_000)]));
      expect(verdict).to.deep.include({ decided: true, winner: "b", reason: "better", needs_more: 0 });
      expect(verdict.variants[1]?.uplift).to.be.closeTo(0.2, 1e-9);
      expect(verdict.variants[1]?.p_best).to.be.above(0.999);
    });
    it(`by ${rule} is open between two that are alike, three of which one is worse, and too few`, () => {
      const open = verdictOf(asked(rule, [contender("a", 2_000, 200), contender("b", 2_000, 201)]));
      expect(open).to.deep.include({ decided: false, winner: null, reason: "undecided" });
      const three = [contender("a", 2_000, 200), contender("b", 2_000, 202), contender("c", 2_000, 20)];
      expect(verdictOf(asked(rule, three)).reason).to.equal("undecided");
      const few = verdictOf(asked(rule, [contender("a", 900, 9), contender("b", 999, 900)]));
      expect([few.reason, few.needs_more]).to.deep.equal(["too_few", 100]);
    });
    it(`by ${rule} is blocked by a division that is not what the weights say`, () => {
      const verdict = verdictOf(asked(rule, [contender("a", 490_000, 49_000), contender("b", 510_000, 99_000)]));
      expect(verdict).to.deep.include({ decided: false, winner: null, reason: "sample_ratio" });
    });
  }

  it("that is open leaves the rest what was asked for", () => {
    const contenders = [contender("a", 2_000, 200), contender("b", 2_000, 201)];
    const chosen = (otherwise: Winner["if_undecided"], of = contenders): string | null => {
      const question = asked("bayes", of, otherwise);
      return chosenIn(verdictOf(question), question);
    };
    expect((["best", "first", "control", "none"] as const).map((one) => chosen(one))).to.deep.equal([
      "b",
      "a",
      null,
      null,
    ]);
    expect(chosen("best", [contender("a", 490_000, 4_900), contender("b", 510_000, 9_900)])).to.equal("a"); // nothing can be believed
  });

  const sends = inSuite(200, { soak: 10_000 });
  const spread = 3 * Math.sqrt(0.05 * 0.95 * sends); // what chance adds to a small number of sends
  const room = inSuite(spread, { soak: 0 });
  const alike: { rule: Winner["rule"]; looks: number; most: number }[] = [
    { rule: "anytime", looks: 30, most: 0.05 },
    { rule: "fixed", looks: 1, most: 0.05 },
    { rule: "bayes", looks: 1, most: 0.11 },
  ];
  for (const { rule, looks, most } of alike)
    it(`by ${rule} at ${looks} looks is wrong of variants that are alike in at most ${most * 100} % of sends`, function () {
      this.timeout(600_000);
      const people = inSuite(3_000, { soak: 30_000 });
      const [first, second] = simulate({ rule, rates: [0.1, 0.1], people, looks, sends });
      expect(first + second).to.be.at.most(most * sends + room);
    });
  for (const { rule, looks } of alike)
    it(`by ${rule} finds a rate of 11 % better than one of 10 %, of 50,000 people each, in 95 % of sends`, function () {
      this.timeout(600_000);
      const some = inSuite(20, { soak: 1_000 });
      const [, second] = simulate({ rule, rates: [0.1, 0.11], people: 50_000, looks, sends: some });
      expect(second).to.be.at.least(0.95 * some - inSuite(1, { soak: 0 }));
    });
});
