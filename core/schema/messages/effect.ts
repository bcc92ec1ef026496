import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";

const { Array: List, Enum, Integer, Number: Num, Object: Members, String: Text } = Type;

const Pair = List(Num(), { minItems: 2, maxItems: 2 });

const people = {
  people: Integer({ description: "each once, on however many devices" }),
  converted: Integer({ description: "of them, who did what counts as a conversion, whatever led them to it" }),
  rate: Num(),
  ci: Pair,
};
const above = {
  uplift: Nullable(
    Num({ description: "of the rate over that of those held out: 0.1 is a tenth more; null while theirs is 0" }),
  ),
  uplift_ci: Nullable(Pair),
};

const Comparison = Members({
  held: Members(people),
  sent: Members(people),
  ...above,
  p: Num({ description: "of a two-sided z-test of both rates" }),
  p_srm: Nullable(
    Num({ description: "of a chi-squared test of the division; below 0.001 nothing is said. Null for a holdout" }),
  ),
  verdict: Enum(["more", "less", "undecided", "too_few", "sample_ratio"], {
    description: "whether who was sent to converts more or less (p below 0.05); too_few: 100 people are needed in both",
  }),
  variants: List(Members({ id: Text(), ...people, ...above }), {
    description: "of those sent to, by the form they got",
  }),
});
export type Comparison = Static<typeof Comparison>;

/** What a message did, by the conversions of those who were sent nothing. Source: docs/reference/variants.md#effect. */
export const ShownEffect = Members({ control: Nullable(Comparison), holdout: Nullable(Comparison) });
export type ShownEffect = Static<typeof ShownEffect>;
