/** People of one variant, and how many of them did what is measured. */
export type Sample = { n: number; conversions: number };

export const rateOf = ({ n, conversions }: Sample): number => (n === 0 ? 0 : conversions / n);

/** P(Z > z) of a standard normal, from the upper incomplete gamma function. */
export const normalTail = (z: number): number => (z >= 0 ? chiSquaredTail(z * z, 1) / 2 : 1 - normalTail(-z));

/** P(X > x) of chi-squared with `df` degrees of freedom. */
export const chiSquaredTail = (x: number, df: number): number => (x <= 0 ? 1 : upperGamma(df / 2, x / 2));

/**
 * Whether people were divided as the weights say: the p of a chi-squared test. Below {@link mismatch} something is wrong with
 * the division, and no result of it can be believed.
 */
export const sampleRatioP = (counts: readonly number[], weights: readonly number[]): number => {
  const used = counts.flatMap((count, i) => ((weights[i] ?? 0) > 0 ? [{ count, weight: weights[i] ?? 0 }] : []));
  const [all, whole] = [sum(used.map(({ count }) => count)), sum(used.map(({ weight }) => weight))];
  if (all === 0 || used.length < 2) return 1;
  const terms = used.map(({ count, weight }) => {
    const expected = (all * weight) / whole;
    return (count - expected) ** 2 / expected;
  });
  return chiSquaredTail(sum(terms), used.length - 1);
};

export const mismatch = 0.001;

export type Interval = readonly [low: number, high: number];
const z95 = 1.959964;

/** The 95 % interval of a rate. Source: Wilson 1927. */
export const rateInterval = ({ n, conversions }: Sample): Interval => {
  if (n === 0) return [0, 1];
  const [p, z2] = [conversions / n, z95 ** 2];
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z95 * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n))) / (1 + z2 / n);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
};

/** By how much a rate is above another, as a part of that: 0.1 is 10 % more; null while the other is 0. */
export const upliftOf = (of: Sample, base: Sample): number | null =>
  rateOf(base) === 0 ? null : rateOf(of) / rateOf(base) - 1;

/** Its 95 % interval, by the logarithm of the ratio. Source: Katz et al. 1978. */
export const upliftInterval = (of: Sample, base: Sample): Interval | null => {
  if (of.conversions === 0 || base.conversions === 0) return null;
  const ratio = Math.log(rateOf(of) / rateOf(base));
  const half = z95 * Math.sqrt(1 / of.conversions - 1 / of.n + 1 / base.conversions - 1 / base.n);
  return [Math.exp(ratio - half) - 1, Math.exp(ratio + half) - 1];
};

/** Two-sided p of a difference of two rates, looked at once. Source: the z-test with Yates's correction. */
export const fixedP = (a: Sample, b: Sample): number => {
  if (a.n === 0 || b.n === 0) return 1;
  const pooled = (a.conversions + b.conversions) / (a.n + b.n);
  const se = Math.sqrt(pooled * (1 - pooled) * (1 / a.n + 1 / b.n));
  const gap = Math.abs(rateOf(a) - rateOf(b)) - (1 / a.n + 1 / b.n) / 2;
  return se === 0 || gap <= 0 ? 1 : 2 * normalTail(gap / se);
};

/**
 * The half width of a confidence sequence for the difference of two rates: it holds at every look at once, however many there
 * are. `tightest`: with so many people in both it is narrowest. Source: Waudby-Smith et al. 2021 (arXiv 2103.06476),
 * theorem 2.2 and the choice of rho in B.2, after Howard et al. 2021.
 */
export const anytimeRadius = (
  a: Sample,
  b: Sample,
  { alpha, tightest }: { alpha: number; tightest: number },
): number => {
  const variance = ({ n, conversions }: Sample): number => ((conversions / n) * (1 - conversions / n)) / n;
  const t = a.n + b.n;
  const sigma2 = (variance(a) + variance(b)) * t;
  const rho2 = (-2 * Math.log(alpha) + Math.log(-2 * Math.log(alpha)) + 1) / tightest;
  const inside = ((2 * (t * rho2 + 1)) / (t * t * rho2)) * Math.log(Math.sqrt(t * rho2 + 1) / alpha);
  return Math.sqrt(sigma2 * inside);
};

/** Of each of some rates, each from a uniform prior: how probable it is that it is the highest, and what choosing it loses. */
export const posterior = (samples: readonly Sample[]): { pBest: number; expectedLoss: number }[] => {
  const curves = samples.map(({ n, conversions }) => ({ a: conversions + 1, b: n - conversions + 1 }));
  const grid = gridOf(curves);
  const tables = curves.map((curve) => tableOf(curve, grid));
  const below = grid.xs.map((_, i) => tables.reduce((product, { cdf }) => product * (cdf[i] ?? 1), 1));
  const first = grid.xs[0] ?? 0;
  const expectedMost =
    first + sum(below.map((p, i) => (1 - p) * (i === 0 || i === below.length - 1 ? 0.5 : 1))) * grid.step;
  const wins = tables.map(({ pdf }, k) => {
    const terms = pdf.map((density, i) =>
      tables.reduce((product, { cdf }, j) => (j === k ? product : product * (cdf[i] ?? 1)), density),
    );
    return trapezoid(terms, grid.step);
  });
  const whole = sum(wins);
  return curves.map(({ a, b }, k) => ({
    pBest: (wins[k] ?? 0) / whole,
    expectedLoss: Math.max(0, expectedMost - a / (a + b)),
  }));
};

type Beta = { a: number; b: number };
type Grid = { xs: number[]; step: number };
const points = 1_001;

/** Where any of them has density worth a count. */
const gridOf = (curves: readonly Beta[]): Grid => {
  const spans = curves.map(({ a, b }) => {
    const [mean, sd] = [a / (a + b), Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)))];
    return [mean - 8 * sd, mean + 8 * sd] as const;
  });
  const low = Math.max(0, Math.min(...spans.map(([from]) => from)));
  const high = Math.min(1, Math.max(...spans.map(([, to]) => to)));
  const step = (high - low) / (points - 1);
  return { xs: Array.from({ length: points }, (_, i) => low + i * step), step };
};

const tableOf = ({ a, b }: Beta, { xs, step }: Grid): { pdf: number[]; cdf: number[] } => {
  const logs = xs.map((x) => logPart(a - 1, x) + logPart(b - 1, 1 - x));
  const most = Math.max(...logs);
  const raw = logs.map((log) => Math.exp(log - most));
  const whole = trapezoid(raw, step);
  const pdf = raw.map((value) => value / whole);
  let total = 0;
  const cdf = pdf.map((density, i) => {
    if (i > 0) total += ((density + (pdf[i - 1] ?? 0)) / 2) * step;
    return Math.min(1, total);
  });
  return { pdf, cdf };
};

const logPart = (power: number, x: number): number =>
  power === 0 ? 0 : power * Math.log(Math.max(x, Number.MIN_VALUE));

const trapezoid = (values: readonly number[], step: number): number =>
  (sum(values) - ((values[0] ?? 0) + (values.at(-1) ?? 0)) / 2) * step;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The regularised upper incomplete gamma function, by its series or its continued fraction. Source: Numerical Recipes 6.2. */
const upperGamma = (a: number, x: number): number => {
  const front = Math.exp(-x + a * Math.log(x) - logGamma(a));
  if (x < a + 1) return 1 - front * series(a, x);
  return front * fraction(a, x);
};

const terms = 500;
const precision = 1e-14;

const series = (a: number, x: number): number => {
  let term = 1 / a;
  let total = term;
  for (let k = 1; k < terms && Math.abs(term) > Math.abs(total) * precision; k++) {
    term *= x / (a + k);
    total += term;
  }
  return total;
};

const fraction = (a: number, x: number): number => {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let value = d;
  for (let k = 1; k < terms; k++) {
    const factor = -k * (k - a);
    b += 2;
    d = 1 / (factor * d + b);
    c = b + factor / c;
    value *= d * c;
    if (Math.abs(d * c - 1) < precision) break;
  }
  return value;
};

const coefficients = [
  76.18009172947146, -86.50532032941678, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
  -0.000005395239384953,
];

/** Source: Lanczos 1964, as in Numerical Recipes 6.1. */
const logGamma = (x: number): number => {
  const base = x + 5.5;
  const total = coefficients.reduce((all, each, i) => all + each / (x + i + 1), 1.000000000190015);
  return (x + 0.5) * Math.log(base) - base + Math.log((2.5066282746310002 * total) / x);
};
