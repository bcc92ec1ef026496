import { hash } from "node:crypto";

/** Parts that people are divided into. */
export const parts = 10_000;

/**
 * The part that a person is in, 0 to 9,999: the same for ever under one salt, and under each salt another, as it follows from
 * 64 bits of their SHA-256. Source: docs/reference/variants.md#assignment.
 */
export const partOf = (salt: string, person: string): number => {
  const bits = hash("sha256", `${salt}\n${person}`, "hex");
  const [high, low] = [Number.parseInt(bits.slice(0, 8), 16), Number.parseInt(bits.slice(8, 16), 16)];
  return Math.floor((high * parts + Math.floor((low * parts) / half)) / half);
};

/** What 32 of the 64 bits are less than: products with the parts stay exact. */
const half = 2 ** 32;

/**
 * Which of some weights a part falls to: they lie side by side in their order, so that a change of one moves only the people
 * between the old and the new borders.
 */
export const placeOf = (weights: readonly number[], part: number): number => {
  let [sum, last] = [0, 0];
  for (const [place, weight] of weights.entries()) {
    if (weight === 0) continue;
    sum += weight;
    last = place;
    if (part < Math.round((sum / 100) * parts)) return place;
  }
  return last; // weights may make a little less than 100
};
