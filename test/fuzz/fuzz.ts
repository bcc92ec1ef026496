import type { Mutation } from "./mutate.ts";
import { randomFrom } from "./random.ts";

/**
 * What is attacked. `run` gives what happened, step by step, and throws when something happened that never may. The same
 * input always gives the same steps.
 */
export type Target = {
  name: string;
  mutate: Mutation;
  seeds: readonly Buffer[];
  run: (input: Buffer) => readonly string[];
};

/** `isQuick`: what is kept stays as it was found. */
export type Attack = { runs: number; seed: number; corpus: readonly Buffer[]; isQuick?: boolean };

export type Attacked = {
  /** Inputs that reach what no other one does, each as small as it can be. */
  corpus: Buffer[];
  failure: { input: Buffer; error: unknown } | null;
};

/**
 * Runs a target with mutations of what is known to reach something, the corpus first. Depends on the seed alone. Ends at
 * the first failure, with the smallest input that still fails.
 */
export const attack = (target: Target, { runs, seed, corpus, isQuick = false }: Attack): Attacked => {
  const random = randomFrom(seed);
  const seen = new Set<string>();
  const kept: Buffer[] = [];
  const first = [...target.seeds, ...corpus];
  const failureOf = (input: Buffer): unknown => {
    try {
      keepIfNew(input);
      return null;
    } catch (error) {
      return error;
    }
  };
  const keepIfNew = (input: Buffer): void => {
    const fresh = [...pairsOf(target.run(input))].filter((pair) => !seen.has(pair));
    if (fresh.length === 0) return;
    const reachesAll = (smaller: Buffer): boolean => {
      const pairs = pairsOf(target.run(smaller));
      return fresh.every((pair) => pairs.has(pair));
    };
    const small = isQuick ? input : smallest(input, reachesAll);
    for (const pair of pairsOf(target.run(small))) seen.add(pair);
    kept.push(small);
  };
  const pick = (): Buffer => kept[random.below(kept.length)] ?? Buffer.alloc(0);
  for (let n = 0; n < first.length + runs; n++) {
    const input = first[n] ?? target.mutate(pick(), pick(), random);
    const error = failureOf(input);
    if (error !== null)
      return { corpus: kept, failure: { input: smallest(input, (less) => isFailure(target, less)), error } };
  }
  return { corpus: kept, failure: null };
};

const isFailure = ({ run }: Target, input: Buffer): boolean => {
  try {
    run(input);
    return false;
  } catch {
    return true;
  }
};

/** Each step with the one before it. */
const pairsOf = (steps: readonly string[]): Set<string> =>
  new Set(steps.map((step, nth) => `${steps[nth - 1] ?? "begin"} > ${step}`));

/** Takes away what is not needed, large parts first. */
const smallest = (input: Buffer, isEnough: (smaller: Buffer) => boolean): Buffer => {
  let output = input;
  for (let size = output.length; size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < output.length; ) {
      const smaller = Buffer.concat([output.subarray(0, at), output.subarray(at + size)]);
      if (isEnough(smaller)) output = smaller;
      else at += size;
    }
  return Buffer.from(output);
};
