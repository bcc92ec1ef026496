import { looksPersonal } from "./personal.ts";
import { counted, mostTracked, type Tracked } from "./sketch.ts";

/** The values of a property on one day. */
export type KeyValues = {
  key: string;
  values: Tracked[];
  /** Base64 of marks of the different values, by which they are counted beyond what `values` holds; absent until then. */
  marks?: string;
  /** It may hold personal data: nothing of it is kept, or shown. */
  hidden?: true;
};

/** What events of one name said on one day, before it is added to the rest. */
export type ValueTally = { counts: Map<string, Map<string, number>>; hidden: Set<string> };

/** Properties of one name whose values are counted on one day; others are not. */
export const mostKeys = 100;

/** A property with more different values on a day is taken for personal. */
const mostDistinct = 1_000;

/** Counts the values of events: scalars only, and none of properties that may hold personal data. */
export const tallyOf = (events: readonly Readonly<Record<string, unknown>>[]): ValueTally => {
  const tally: ValueTally = { counts: new Map(), hidden: new Set() };
  for (const properties of events)
    for (const [key, value] of Object.entries(properties))
      if (isScalar(value) && !tally.hidden.has(key)) addTo(tally, key, value);
  return tally;
};

/** What several tallies come to. */
export const tallySum = (tallies: readonly ValueTally[]): ValueTally => {
  const sum: ValueTally = { counts: new Map(), hidden: new Set(tallies.flatMap(({ hidden }) => [...hidden])) };
  for (const { counts } of tallies) {
    for (const [key, values] of counts) {
      if (sum.hidden.has(key)) continue;
      const known = sum.counts.get(key) ?? new Map<string, number>();
      sum.counts.set(key, known);
      for (const [value, count] of values) known.set(value, (known.get(value) ?? 0) + count);
    }
  }
  return sum;
};

/** The values of a day after more events. Source: docs/reference/events.md#values-of-properties. */
export const valuesAfter = (before: readonly KeyValues[], { counts, hidden }: ValueTally): KeyValues[] => {
  const keys = new Map(before.map((one) => [one.key, one]));
  for (const key of hidden) if (keys.has(key) || keys.size < mostKeys) keys.set(key, nothingOf(key));
  for (const [key, values] of counts) {
    const known = keys.get(key);
    if (known?.hidden === true || (known === undefined && keys.size >= mostKeys)) continue;
    keys.set(key, withMore(known ?? { key, values: [] }, values));
  }
  return [...keys.values()];
};

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

const addTo = ({ counts, hidden }: ValueTally, key: string, value: string | number | boolean): void => {
  const text = String(value);
  const known = counts.get(key);
  const before = known?.get(text);
  if (before === undefined && typeof value === "string" && looksPersonal(value)) {
    hidden.add(key);
    counts.delete(key);
  } else if (known === undefined) counts.set(key, new Map([[text, 1]]));
  else known.set(text, (before ?? 0) + 1);
};

const nothingOf = (key: string): KeyValues => ({ key, values: [], hidden: true });

const withMore = (before: KeyValues, values: ReadonlyMap<string, number>): KeyValues => {
  const after = counted(before.values, values);
  if (before.marks === undefined && after.length < mostTracked) return { key: before.key, values: after };
  const marks = marked(before, values.keys());
  if (distinctOf(marks) > mostDistinct) return nothingOf(before.key);
  return { key: before.key, values: after, marks: marks.toString("base64") };
};

/** 2,048 bits tell a thousand values apart to about 2 in 100: linear counting (Whang, Vander-Zanden, Taylor 1990). */
const markBits = 2_048;

const marked = ({ values, marks }: KeyValues, more: Iterable<string>): Buffer => {
  const bits = Buffer.alloc(markBits / 8);
  if (marks !== undefined) bits.set(Buffer.from(marks, "base64"));
  for (const value of [...(marks === undefined ? values.map((one) => one.value) : []), ...more]) {
    const bit = hashOf(value) % markBits;
    bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bits;
};

const distinctOf = (marks: Buffer): number => {
  let set = 0;
  for (const byte of marks) for (let rest = byte; rest > 0; rest &= rest - 1) set++;
  return set === markBits ? Number.POSITIVE_INFINITY : -markBits * Math.log(1 - set / markBits);
};

/** FNV-1a of 32 bits, mixed once more so that its low bits are as good as the others. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
};
