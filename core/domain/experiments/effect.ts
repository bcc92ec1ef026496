import type { Comparison, ShownEffect } from "../../schema/messages/effect.ts";
import {
  fixedP,
  mismatch,
  rateInterval,
  rateOf,
  type Sample,
  sampleRatioP,
  upliftInterval,
  upliftOf,
} from "./statistics.ts";

/** People of a message to whom the same was done: sent a variant, or nothing, and why. */
export type Measured = {
  /** Null for a message that has one form. */
  variant: string | null;
  /** Who had them sent nothing; null for those who were sent to. */
  held: "control" | "holdout" | null;
  people: number;
  converted: number;
};

type Weighted = { id: string; weight_percent: number; is_control: boolean };

/**
 * How the conversions of those who were sent to differ from those of the control, and of the app's holdout; null where there
 * are none of these. Source: docs/reference/variants.md#effect.
 */
export const effectOf = (measured: readonly Measured[], variants: readonly Weighted[] = []): ShownEffect => {
  const sent = measured.filter(({ held }) => held === null);
  const against = (by: Measured["held"], pSrm: number | null): Comparison | null => {
    const held = measured.filter((one) => one.held === by);
    return held.length === 0 ? null : compared(sampleOf(held), sent, pSrm);
  };
  return { control: against("control", divisionOf(measured, variants)), holdout: against("holdout", null) };
};

/** The control is a part of all, whichever variants the others get. */
const divisionOf = (measured: readonly Measured[], variants: readonly Weighted[]): number => {
  const control = variants.find(({ is_control: isControl }) => isControl)?.weight_percent ?? 0;
  const counts = ["control", null].map((by) => sampleOf(measured.filter(({ held }) => held === by)).n);
  return sampleRatioP(counts, [control, 100 - control]);
};

const leastPeople = 100; // of both
const mostP = 0.05;

const compared = (base: Sample, sent: readonly Measured[], pSrm: number | null): Comparison => {
  const of = sampleOf(sent);
  const p = fixedP(of, base);
  const byVariant = Map.groupBy(
    sent.filter(({ variant }) => variant !== null),
    ({ variant }) => variant ?? "",
  );
  return {
    held: shown(base),
    sent: shown(of),
    ...above(of, base),
    p,
    p_srm: pSrm,
    verdict: verdictOf({ of, base, p, pSrm }),
    variants: [...byVariant]
      .map(([id, some]) => ({ id, ...shown(sampleOf(some)), ...above(sampleOf(some), base) }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
};

const verdictOf = ({
  of,
  base,
  p,
  pSrm,
}: {
  of: Sample;
  base: Sample;
  p: number;
  pSrm: number | null;
}): Comparison["verdict"] => {
  if (pSrm !== null && pSrm < mismatch) return "sample_ratio";
  if (Math.min(of.n, base.n) < leastPeople) return "too_few";
  if (p > mostP) return "undecided";
  return rateOf(of) > rateOf(base) ? "more" : "less";
};

const sampleOf = (all: readonly Measured[]): Sample => ({
  n: all.reduce((sum, { people }) => sum + people, 0),
  conversions: all.reduce((sum, { converted }) => sum + converted, 0),
});

const shown = (of: Sample) => ({
  people: of.n,
  converted: of.conversions,
  rate: rateOf(of),
  ci: [...rateInterval(of)],
});

const above = (of: Sample, base: Sample) => {
  const interval = upliftInterval(of, base);
  return { uplift: upliftOf(of, base), uplift_ci: interval && [...interval] };
};
