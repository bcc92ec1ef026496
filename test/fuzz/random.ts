/** Numbers that depend on the seed only. */
export type Random = {
  /** A whole number, 0 ≤ n < bound. */
  below: (bound: number) => number;
};

/** Source: the public generator "mulberry32". */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  return {
    below: (bound) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
    },
  };
};
