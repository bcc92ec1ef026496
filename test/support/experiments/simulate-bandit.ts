import { movedWeights } from "#core/domain/experiments/bandit.ts";
import { binomial, randomFrom } from "./simulate.ts";

export type BanditSimulation = {
  rates: readonly [number, number];
  /** Sent to in each step. */
  people: number;
  steps: number;
  sends: number;
};

/**
 * What some simulated sends by the rule bandit came to on average: the conversions `lost` by sending the worse variant, the
 * `share` that the second got, and how often it had the greater weight at the end (`better`).
 */
export const simulateBandit = ({ rates, people, steps, sends }: BanditSimulation) => {
  const random = randomFrom(20_261_128);
  const whole = { lost: 0, share: 0, better: 0 };
  for (let send = 0; send < sends; send++) {
    const samples: [Sample, Sample] = [
      { n: 0, conversions: 0 },
      { n: 0, conversions: 0 },
    ];
    let weights = [50, 50];
    for (let step = 0; step < steps; step++) {
      const second = binomial(people, (weights[1] ?? 0) / 100, random);
      for (const [i, n] of [people - second, second].entries()) {
        const sample = samples[i as 0 | 1]; // there are two
        sample.conversions += n === 0 ? 0 : binomial(n, rates[i as 0 | 1], random);
        sample.n += n;
      }
      weights = movedWeights(samples);
    }
    whole.lost += samples[0].n * Math.max(0, rates[1] - rates[0]);
    whole.share += samples[1].n / (people * steps);
    whole.better += (weights[1] ?? 0) > 50 ? 1 : 0;
  }
  return { lost: whole.lost / sends, share: whole.share / sends, better: whole.better / sends };
};

type Sample = { n: number; conversions: number };
