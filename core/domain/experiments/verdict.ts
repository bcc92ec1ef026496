import type { Verdict, Winner } from "../../schema/messages/winner.ts";
import {
  anytimeRadius,
  fixedP,
  mismatch,
  posterior,
  rateInterval,
  rateOf,
  type Sample,
  sampleRatioP,
  upliftInterval,
  upliftOf,
} from "./statistics.ts";

/** What is known of a variant: `assigned` people of the test were given it, `n` of them were sent it. */
export type Contender = Sample & { id: string; weight: number; assigned: number };

export type Question = Pick<Winner, "rule" | "min_per_variant" | "if_undecided"> & {
  contenders: readonly Contender[];
  /** What an earlier look found of the division, when weights have moved since. */
  pSrm?: number | undefined;
};

/**
 * Which variant wins. It follows from the counts alone; whom the rest of the audience gets is {@link chosenIn}.
 * Source: docs/reference/variants.md#winner.
 */
export const verdictOf = ({ contenders, rule, min_per_variant: least, pSrm: found }: Question): Verdict => {
  const pSrm =
    found ??
    sampleRatioP(
      contenders.map(({ assigned }) => assigned),
      contenders.map(({ weight }) => weight),
    );
  const needed = Math.max(0, least - Math.min(...contenders.map(({ n }) => n)));
  const chances = posterior(contenders);
  const isKnown = pSrm >= mismatch && needed === 0;
  const best = isKnown ? betterIn({ contenders, rule, min_per_variant: least }) : null;
  const reason = pSrm < mismatch ? "sample_ratio" : needed > 0 ? "too_few" : best !== null ? "better" : "undecided";
  const [base] = contenders;
  return {
    decided: reason === "better",
    winner: reason === "better" ? (best?.id ?? null) : null,
    reason,
    p_srm: pSrm,
    variants: contenders.map((one, i) => ({
      id: one.id,
      n: one.n,
      conversions: one.conversions,
      rate: rateOf(one),
      ci: [...rateInterval(one)],
      p_best: chances[i]?.pBest ?? 0,
      expected_loss: chances[i]?.expectedLoss ?? 0,
      uplift: base === undefined || i === 0 ? null : upliftOf(one, base),
      uplift_ci: base === undefined || i === 0 ? null : mutable(upliftInterval(one, base)),
    })),
    needs_more: needed,
    biased: rule === "bandit",
  };
};

const mutable = (interval: readonly [number, number] | null): [number, number] | null => interval && [...interval];

/** The one that is better than all others, as far as the rule can tell. */
export const betterIn = ({
  contenders,
  rule,
  min_per_variant: least,
}: Omit<Question, "if_undecided">): Contender | null => {
  const best = bestOf(contenders);
  return best !== null && rules[rule](contenders, best, least) ? best : null;
};

/** The variant that the rest gets: null for nothing. Without a believable division the best is not known, and the first is sent. */
export const chosenIn = (
  { winner, reason }: Verdict,
  { contenders, if_undecided: otherwise }: Question,
): string | null => {
  if (winner !== null) return winner;
  if (otherwise === "none" || otherwise === "control") return null;
  const best = otherwise === "best" && reason !== "sample_ratio" ? bestOf(contenders) : null;
  return (best ?? contenders[0])?.id ?? null;
};

/** The highest rate; of several the first. */
const bestOf = (contenders: readonly Contender[]): Contender | null =>
  contenders.reduce<Contender | null>((best, one) => (best === null || rateOf(one) > rateOf(best) ? one : best), null);

const isProbablyBest = (contenders: readonly Contender[], best: Contender): boolean => {
  const { pBest = 0, expectedLoss = 1 } = posterior(contenders)[contenders.indexOf(best)] ?? {};
  return pBest >= 0.95 && expectedLoss <= 0.005 * rateOf(best);
};

type Rule = (contenders: readonly Contender[], best: Contender, least: number) => boolean;

const alpha = 0.05;
const mostPairs = 45; // of ten

/** Whether the best is better than each of the others. */
const rules: Record<Winner["rule"], Rule> = {
  bayes: (contenders, best) => isProbablyBest(contenders, best),
  bandit: (contenders, best) => isProbablyBest(contenders, best),
  /** Holm: of all pairs the one that differs most has the strictest bound. */
  fixed: (contenders, best) => {
    const pairs = contenders.flatMap((a, i) => contenders.slice(i + 1).map((b) => ({ a, b, p: fixedP(a, b) })));
    const sorted = pairs.toSorted((one, other) => one.p - other.p);
    const refused = sorted.findIndex(({ p }, i) => p > alpha / (sorted.length - i));
    const held = refused < 0 ? sorted : sorted.slice(0, refused);
    return contenders.every(
      (one) => one === best || held.some(({ a, b }) => (a === one && b === best) || (b === one && a === best)),
    );
  },
  /** All pairs hold together: each has its part of alpha. */
  anytime: (contenders, best, least) => {
    const pairs = Math.min(mostPairs, (contenders.length * (contenders.length - 1)) / 2);
    const bound = { alpha: alpha / pairs, tightest: Math.max(2, 4 * least) };
    return contenders.every((one) => one === best || rateOf(best) - rateOf(one) > anytimeRadius(best, one, bound));
  },
};
