const usualMs = 4; // what the work below takes on the machines for which limits of waits were chosen
const noticed = 1.5; // slower than that by less is noise
const most = 10;

/**
 * How many times longer a wait may last than on a usual machine: 1 there. On one that computes more slowly it is the square,
 * as several programs that wait for one another are slower together than each alone. At most 10.
 */
export const slowness = (workMs: () => number = leastOfWork): number => {
  const times = workMs() / usualMs;
  return times < noticed ? 1 : Math.min(times ** 2, most);
};

/** Says of a wait that may last so long whether it is over, by how long it lasted; how slow the machine is, is measured then. */
export const limitOf = (mostMs: number): ((passedMs: number) => boolean) => {
  let limitMs = mostMs;
  return (passedMs) => {
    if (passedMs <= limitMs) return false;
    limitMs = mostMs * slowness();
    return passedMs > limitMs;
  };
};

/** The least of some runs: what runs beside them delays some, the machine's own pace all. */
const leastOfWork = (): number =>
  Math.min(
    ...Array.from({ length: 8 }, () => {
      const beganMs = performance.now();
      work();
      return performance.now() - beganMs;
    }),
  );

/** Two million steps of a random generator, which use a processor and nothing else. */
const work = (): number => {
  let state = 1;
  for (let n = 0; n < 2_000_000; n++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
};
