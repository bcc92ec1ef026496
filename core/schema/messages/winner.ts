import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";

const {
  Array: List,
  Boolean: Flag,
  Enum,
  Integer,
  Number: Num,
  Object: Members,
  Optional,
  Record,
  String: Text,
} = Type;

const Metric = Enum(["open_rate", "click_rate", "conversion_rate"], { description: "what variants are compared by" });
const Rule = Enum(["bayes", "fixed", "anytime", "bandit"], {
  description:
    "bayes: probably the best (95 %), and little lost if not; fixed: significantly better, looked at once; " +
    "anytime: the same at whichever of 30 looks, which may end the test early; " +
    "bandit: the rest is sent in steps, by weights that follow what was better until then",
});
const IfUndecided = Enum(["best", "first", "control", "none"], {
  description: "what the rest gets when no variant wins: the highest rate, the first variant, or nothing",
});

/** How the form is found that the rest of an audience gets. Source: docs/reference/variants.md#winner. */
export const AskedWinner = Closed({
  metric: Metric,
  after_minutes: Integer({ minimum: 15, maximum: 10_080, description: "from the start to the decision" }),
  test_percent: Integer({ minimum: 5, maximum: 90, description: "part of the people who are sent to at once" }),
  rule: Optional(Rule),
  min_per_variant: Optional(Integer({ minimum: 1, maximum: 1_000_000, description: "people; fewer decide nothing" })),
  if_undecided: Optional(IfUndecided),
});
export type AskedWinner = Static<typeof AskedWinner>;

export type Winner = Required<AskedWinner>;

/** What somebody leaves out. */
export const winnerDefaults = { rule: "bayes", min_per_variant: 1_000, if_undecided: "best" } as const;

const Pair = List(Num(), { minItems: 2, maxItems: 2 });

/** What a test came to. */
export const Verdict = Members({
  decided: Flag(),
  winner: Nullable(Text()),
  reason: Enum(["better", "undecided", "too_few", "sample_ratio"]),
  p_srm: Num({ description: "of a chi-squared test of the division; below 0.001 nothing is decided" }),
  variants: List(
    Members({
      id: Text(),
      n: Integer({ description: "people of the test who were sent to" }),
      conversions: Integer({ description: "of them, who did what the metric says" }),
      rate: Num(),
      ci: Pair,
      p_best: Num(),
      expected_loss: Num({ description: "of rate, by choosing it" }),
      uplift: Nullable(Num({ description: "over the first variant, as a part of its rate" })),
      uplift_ci: Nullable(Pair),
    }),
  ),
  needs_more: Integer({ description: "people that the smallest variant lacks" }),
  biased: Flag({ description: "whether rates and intervals are biased, as they have moved the weights (bandit)" }),
});
export type Verdict = Static<typeof Verdict>;

/** As a message shows it. */
export const ShownWinner = Members({
  ...AskedWinner.properties,
  rule: Rule,
  min_per_variant: Integer(),
  if_undecided: IfUndecided,
  decides_at: DateTime,
  decided_at: Nullable(DateTime),
  chosen: Nullable(Text({ description: "the variant that the rest gets; null before, and when it gets nothing" })),
  verdict: Nullable(Verdict),
  steps: Nullable(
    Record(Text(), List(Num()), {
      description: "of the rule bandit: by step, the weights of the variants that are sent, in per cent",
    }),
  ),
});
