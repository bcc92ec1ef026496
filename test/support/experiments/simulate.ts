import { betterIn, type Contender } from "#core/domain/experiments/verdict.ts";
import type { Winner } from "#core/schema/messages/winner.ts";

export type Simulation = {
  rule: Winner["rule"];
  /** Rates of the first and the second variant. */
  rates: readonly [number, number];
  /** People of each. */
  people: number;
  looks: number;
  sends: number;
};

/** How many of some simulated sends chose each variant, by looks at equal distances; the same numbers every time. */
export const simulate = ({ rule, rates, people, looks, sends }: Simulation): [first: number, second: number] => {
  const random = randomFrom(20_261_127);
  const won: [number, number] = [0, 0];
  for (let send = 0; send < sends; send++) {
    const winner = winnerOf({ rule, rates, people, looks }, random);
    if (winner !== null) won[winner === "a" ? 0 : 1]++;
  }
  return won;
};

const winnerOf = ({ rule, rates, people, looks }: Omit<Simulation, "sends">, random: () => number): string | null => {
  const conversions: [number, number] = [0, 0];
  const each = Math.floor(people / looks);
  for (let look = 1; look <= looks; look++) {
    for (const variant of [0, 1] as const) conversions[variant] += binomial(each, rates[variant], random);
    const contenders = (["a", "b"] as const).map(
      (id, i): Contender => ({
        id,
        weight: 50,
        n: look * each,
        assigned: look * each,
        conversions: conversions[i as 0 | 1],
      }),
    );
    const better = betterIn({ contenders, rule, min_per_variant: each });
    if (better !== null) return better.id;
  }
  return null;
};

/** Successes of n tries, by the distances between them, which are geometric. */
export const binomial = (n: number, p: number, random: () => number): number => {
  const perLog = 1 / Math.log1p(-p);
  let [successes, at] = [-1, 0];
  while (at <= n) {
    successes++;
    at += Math.floor(Math.log(random()) * perLog) + 1;
  }
  return successes;
};

/** Numbers between 0 and 1, the same for each seed. Source: Mulberry32. */
export const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return (((value ^ (value >>> 14)) >>> 0) + 0.5) / 4_294_967_296;
  };
};
