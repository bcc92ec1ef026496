import { expect } from "chai";
import { effectOf, type Measured } from "#core/domain/experiments/effect.ts";

const group = (variant: string | null, held: Measured["held"], people: number, converted: number): Measured => ({
  variant,
  held,
  people,
  converted,
});
const variants = ["a", "b", "c"].map((id, i) => ({ id, weight_percent: [45, 45, 10][i] ?? 0, is_control: id === "c" }));

describe("the effect of a message", () => {
  const sent = [group("b", null, 4_500, 540), group("a", null, 4_500, 450)];
  const control = group("c", "control", 1_000, 80);

  it("is what those sent to convert more than the control, all and by variant", () => {
    const { control: found, holdout } = effectOf([...sent, control], variants);
    expect(holdout).to.equal(null);
    expect(found?.held).to.deep.include({ people: 1_000, converted: 80, rate: 0.08 });
    expect(found?.sent).to.deep.include({ people: 9_000, converted: 990, rate: 0.11 });
    expect(found?.uplift).to.be.closeTo(0.375, 1e-9);
    expect(found?.uplift_ci?.[0]).to.be.above(0).and.below(0.375);
    expect(found).to.include({ verdict: "more", p_srm: 1 });
    expect(found?.p).to.be.below(0.05);
    expect(found?.variants.map(({ id, people, uplift }) => [id, people, uplift?.toFixed(6)])).to.deep.equal([
      ["a", 4_500, "0.250000"],
      ["b", 4_500, "0.500000"],
    ]);
  });

  const verdicts: { it: string; of: Measured[]; verdict: string }[] = [
    { it: "less", of: [...sent, group("c", "control", 1_000, 200)], verdict: "less" },
    { it: "undecided where they are alike", of: [...sent, group("c", "control", 1_000, 109)], verdict: "undecided" },
    {
      it: "none of too few",
      of: [group("a", null, 891, 200), group("c", "control", 99, 1)],
      verdict: "too_few",
    },
    {
      it: "none of a division that is not what the weights say",
      of: [...sent, group("c", "control", 1_300, 80)],
      verdict: "sample_ratio",
    },
  ];
  for (const { it: what, of, verdict } of verdicts)
    it(`says ${what}`, () => expect(effectOf(of, variants).control?.verdict).to.equal(verdict));

  it("is compared with a holdout, whose division is not known, and whose people are not the control's", () => {
    const held = [group("a", "holdout", 450, 20), group(null, "holdout", 550, 30)];
    const { control: beside, holdout } = effectOf([...sent, control, ...held], variants);
    expect(holdout?.held).to.include({ people: 1_000, converted: 50 });
    expect(holdout).to.include({ p_srm: null, verdict: "more" });
    expect(beside?.held).to.include({ people: 1_000, converted: 80 });
  });

  it("has no uplift over those of whom nobody converted", () => {
    const { holdout } = effectOf([group(null, null, 900, 9), group(null, "holdout", 100, 0)]);
    expect(holdout).to.include({ uplift: null, uplift_ci: null });
    expect(holdout?.variants).to.deep.equal([]);
  });
});
