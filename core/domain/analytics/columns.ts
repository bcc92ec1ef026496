/**
 * Counts as bytes: each as a number in base 128, the lowest digits first, of which all but the last have their top bit set;
 * a run of zeros as a zero and its length, but for those at the end; a negative one as two zeros and its amount. So counters of a day
 * take a tenth of what they would as members of a document.
 */
export const packed = (counts: Iterable<number>): Uint8Array => {
  const bytes: number[] = [];
  let zeros = 0;
  for (const count of counts)
    if (count === 0) zeros += 1;
    else {
      zeros = endRun(bytes, zeros);
      if (count < 0) bytes.push(0, 0);
      push(bytes, Math.abs(count));
    }
  return Uint8Array.from(bytes);
};

/** Calls with each count that is not zero, and its place. */
export const unpack = (bytes: Uint8Array, each: (count: number, place: number) => void): void => {
  for (let at = 0, place = 0, sign = 1; at < bytes.length; ) {
    const isRun = bytes[at] === 0;
    if (isRun) at += 1;
    let [value, unit] = [0, 1];
    for (; at < bytes.length && (bytes[at] ?? 0) >= more; at++) {
      value += ((bytes[at] ?? 0) - more) * unit;
      unit *= more;
    }
    value += (bytes[at] ?? 0) * unit;
    at += 1;
    if (!isRun) each(sign * value, place);
    place += isRun ? value : 1;
    sign = isRun && value === 0 ? -1 : 1;
  }
};

/** Where counts are added: those of each key to `targets`, at the places of runs behind `from`; undefined and -1: nowhere. */
export type Places = { targets: readonly (Float64Array | undefined)[]; runs: Runs; from: number };

/** Neighbours with one place: where each run of them ends, and which place it has. */
export type Runs = { ends: readonly number[]; to: readonly number[] };

/**
 * Adds counts, of each key as many as runs have: as {@link unpack} would, several times as fast. Counts that go to one place
 * are added up before.
 */
export const addPacked = (bytes: Uint8Array, { targets, runs: { ends, to }, from }: Places): void => {
  const length = ends.at(-1);
  if (length === undefined) return;
  let [key, at, run, sum, sign] = [0, 0, 0, 0, 1];
  let end = ends[0] ?? 0;
  for (let n = 0; n < bytes.length; ) {
    let digit = bytes[n++] ?? 0;
    const isRun = digit === 0;
    if (isRun) digit = bytes[n++] ?? 0;
    let value = digit;
    if (digit >= more) {
      value -= more;
      for (let unit = more; digit >= more; unit *= more) {
        digit = bytes[n++] ?? 0;
        value += (digit % more) * unit;
      }
    }
    if (isRun) at += value;
    else {
      sum += sign * value;
      at += 1;
    }
    sign = isRun && value === 0 ? -1 : 1;
    while (at >= end) {
      if (sum !== 0) addSum(targets[key], to[run] ?? -1, { from, sum });
      sum = 0;
      run += 1;
      if (run === ends.length) [run, at, key] = [0, at - length, key + 1];
      end = ends[run] ?? 0;
    }
  }
  if (sum !== 0) addSum(targets[key], to[run] ?? -1, { from, sum });
};

const addSum = (
  target: Float64Array | undefined,
  place: number,
  { from, sum }: { from: number; sum: number },
): void => {
  if (target !== undefined && place >= 0) target[from + place] = (target[from + place] ?? 0) + sum;
};

/** Runs of places. */
export const runsOf = (places: Int32Array): Runs => {
  const [ends, to]: [number[], number[]] = [[], []];
  for (let n = 1; n <= places.length; n++) {
    if (n < places.length && places[n] === places[n - 1]) continue;
    ends.push(n);
    to.push(places[n - 1] ?? -1);
  }
  return { ends, to };
};

const more = 128; // the top bit of a byte: others follow

const endRun = (bytes: number[], zeros: number): 0 => {
  if (zeros > 0) {
    bytes.push(0);
    push(bytes, zeros);
  }
  return 0;
};

const push = (bytes: number[], value: number): void => {
  let rest = value;
  for (; rest >= more; rest = Math.floor(rest / more)) bytes.push((rest % more) + more);
  bytes.push(rest);
};
