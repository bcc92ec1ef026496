import { expect } from "chai";
import {
  chiSquaredTail,
  fixedP,
  normalTail,
  posterior,
  rateInterval,
  sampleRatioP,
  upliftInterval,
  upliftOf,
} from "#core/domain/experiments/statistics.ts";

describe("the statistics of variants", () => {
  /** Percentage points of the usual tables. */
  const tails: [x: number, df: number, p: number][] = [
    [3.841459, 1, 0.05],
    [10.827566, 1, 0.001],
    [5.991465, 2, 0.05],
    [18.307038, 10, 0.05],
    [0.0157908, 1, 0.9],
    [0, 3, 1],
  ];
  it("have the tails of the chi-squared and the normal distribution", () => {
    for (const [x, df, p] of tails) expect(chiSquaredTail(x, df), `${x}, ${df}`).to.be.closeTo(p, 1e-6);
    expect(normalTail(1.959964)).to.be.closeTo(0.025, 1e-7);
    expect(normalTail(3)).to.be.closeTo(0.001349898, 1e-8);
    expect(normalTail(-1.644854)).to.be.closeTo(0.95, 1e-6);
  });

  /** Source: Newcombe, Statistics in Medicine 17 (1998), table I, method 3. */
  const wilson: [conversions: number, n: number, low: number, high: number][] = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ];
  it("give the intervals of rates that Newcombe gives", () => {
    for (const [conversions, n, low, high] of wilson) {
      const [from, to] = rateInterval({ n, conversions });
      expect(from, `${conversions}/${n}`).to.be.closeTo(low, 5e-5);
      expect(to, `${conversions}/${n}`).to.be.closeTo(high, 5e-5);
    }
  });

  it("give the relative risk of the aspirin study, and its interval", () => {
    const [aspirin, placebo] = [
      { n: 11_037, conversions: 104 },
      { n: 11_034, conversions: 189 },
    ];
    expect(1 + (upliftOf(aspirin, placebo) ?? 0)).to.be.closeTo(0.55, 0.005); // Agresti, Categorical Data Analysis: 0.55, 0.43 to 0.70
    const [low, high] = upliftInterval(aspirin, placebo) ?? [0, 0];
    expect([1 + low, 1 + high].map((one) => one.toFixed(2))).to.deep.equal(["0.43", "0.70"]);
    expect(upliftOf(aspirin, { n: 10, conversions: 0 })).to.equal(null);
  });

  it("compare two rates as the table of four fields with Yates's correction does", () => {
    for (const [a, b, c, d] of [
      [104, 10_933, 189, 10_845],
      [30, 70, 45, 55],
      [10, 90, 10, 90],
    ] as const) {
      const n = a + b + c + d;
      const gap = Math.max(0, Math.abs(a * d - b * c) - n / 2);
      const x = (n * gap ** 2) / ((a + b) * (c + d) * (a + c) * (b + d));
      expect(fixedP({ n: a + b, conversions: a }, { n: c + d, conversions: c })).to.be.closeTo(
        chiSquaredTail(x, 1),
        1e-9,
      );
    }
  });

  /** Exactly. Source: Evan Miller, Formulas for Bayesian A/B Testing (2014), binary outcomes. */
  const beats = (aA: number, bA: number, aB: number, bB: number): number => {
    const logs = [0];
    for (let i = 1; i < 5_000; i++) logs.push((logs[i - 1] ?? 0) + Math.log(i));
    const logBeta = (a: number, b: number): number => (logs[a - 1] ?? 0) + (logs[b - 1] ?? 0) - (logs[a + b - 1] ?? 0);
    let total = 0;
    for (let i = 0; i < aB; i++)
      total += Math.exp(logBeta(aA + i, bB + bA) - Math.log(bB + i) - logBeta(1 + i, bB) - logBeta(aA, bA));
    return total;
  };
  it("say how probably a variant is the best, as the exact formula does", () => {
    for (const [a, b] of [
      [
        { n: 100, conversions: 10 },
        { n: 100, conversions: 15 },
      ],
      [
        { n: 1_000, conversions: 100 },
        { n: 1_000, conversions: 120 },
      ],
      [
        { n: 0, conversions: 0 },
        { n: 1, conversions: 1 },
      ],
      [
        { n: 50, conversions: 0 },
        { n: 50, conversions: 3 },
      ],
    ] as const) {
      const exact = beats(a.conversions + 1, a.n - a.conversions + 1, b.conversions + 1, b.n - b.conversions + 1);
      expect(posterior([a, b])[1]?.pBest, JSON.stringify([a, b])).to.be.closeTo(exact, 2e-4);
    }
  });

  it("say what choosing a variant loses, which of two unknown ones is a sixth", () => {
    const [first] = posterior([
      { n: 0, conversions: 0 },
      { n: 0, conversions: 0 },
    ]);
    expect(first?.expectedLoss).to.be.closeTo(1 / 6, 1e-3);
    expect(first?.pBest).to.be.closeTo(1 / 2, 1e-9);
  });

  it("find a division of 1,000,000 people into 49 and 51 per cent wrong, and one by chance right", () => {
    expect(sampleRatioP([490_000, 510_000], [50, 50])).to.be.below(1e-80);
    expect(sampleRatioP([500_300, 499_700], [50, 50])).to.be.closeTo(0.5485, 1e-3);
    expect(sampleRatioP([900, 100, 0], [90, 10, 0])).to.equal(1);
  });
});
