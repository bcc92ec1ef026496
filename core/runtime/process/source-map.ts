/** A line and a column, both from 1. */
export type Place = { line: number; column: number };

/**
 * The sources' `file:line:column` of places in a generated file, by the text of its source map (revision 3); null where the
 * map has none. Walks through the mappings once and keeps nothing of them.
 */
export const placesIn = (map: string, places: readonly Place[]): (string | null)[] => {
  const { mappings, sources } = JSON.parse(map) as { mappings: string; sources: string[] }; // made by our bundler
  const found = places.map((): string | null => null);
  const wanted = Map.groupBy(places.keys(), (n) => places[n]?.line ?? 0);
  const last = Math.max(...wanted.keys());
  const state: State = [0, 0, 0, 0];
  const note = (of: readonly number[]): void => {
    const [column, source, line, sourceColumn] = state;
    const before = of.filter((n) => column < (places[n]?.column ?? 0));
    for (const n of before) found[n] = `${sources[source]}:${line + 1}:${sourceColumn + 1}`;
  };
  let line = 1;
  for (let at = 0; at < mappings.length && line <= last; line++) {
    const end = mappings.indexOf(";", at) < 0 ? mappings.length : mappings.indexOf(";", at);
    state[0] = 0;
    for (const _ of segments(mappings.slice(at, end), state)) note(wanted.get(line) ?? []);
    at = end + 1;
  }
  return found;
};

/** Generated column, source, its line and column, all from 0: what the next segment is counted from. */
type State = [column: number, source: number, line: number, sourceColumn: number];

const segments = function* (line: string, state: State): Generator<State> {
  if (line === "") return;
  for (const segment of line.split(",")) {
    const deltas = decoded(segment);
    for (let n = 0; n < state.length; n++) state[n] = (state[n] ?? 0) + (deltas[n] ?? 0);
    if (deltas.length >= state.length) yield state;
  }
};

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map(digits.split("").map((digit, value) => [digit, value]));

/** Numbers of a segment: base 64 with five bits a digit, the lowest first, and the sign in the lowest bit. */
const decoded = (segment: string): number[] => {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = values.get(digit) ?? 0;
    value += (bits & 31) << shift;
    shift += 5;
    if (bits >= 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
};
