import { dayMs, quarterMs } from "../durations.ts";
import { packed, unpack } from "./columns.ts";

/** What a quarter of an hour counts under one key. `sample`: the last of what is counted, of tables that name one. */
export type Entry = { key: string; counts: Readonly<Record<string, number>>; sample?: Sample };
export type Sample = { last_at: Date; message_id: string };

/**
 * Counters of a UTC day. Of each metric `sums` has a count for each key, and `quarters` one for each key and quarter of an
 * hour, those of a key together. Both are packed as columns.ts says.
 */
export type DayTable = {
  /** In alphabetical order. */
  keys: string[];
  sums: Columns;
  quarters: Columns;
  /** The latest of each key, of the whole day. */
  samples?: (Sample | null)[];
};

export type Columns = Readonly<Record<string, Uint8Array>>;

export const quartersOfDay = dayMs / quarterMs;

/** The table of a day after one of its quarters was counted anew. */
export const withQuarter = (day: DayTable | null, quarter: number, entries: readonly Entry[]): DayTable => {
  const keys = day === null ? new Map<string, Counted>() : unpacked(day);
  for (const { counts } of keys.values()) for (const row of counts.values()) row[quarter] = 0;
  for (const { key, counts, sample } of entries) {
    const counted = keys.get(key) ?? { counts: new Map(), sample: null };
    for (const [metric, count] of Object.entries(counts)) rowOf(counted, metric)[quarter] = count;
    if (sample !== undefined && !(counted.sample !== null && counted.sample.last_at >= sample.last_at))
      counted.sample = sample;
    keys.set(key, counted);
  }
  return tableOf(keys);
};

/** What is counted under a key: of each metric by quarter. */
type Counted = { counts: Map<string, number[]>; sample: Sample | null };

const rowOf = ({ counts }: Counted, metric: string): number[] => {
  const row = counts.get(metric) ?? Array.from({ length: quartersOfDay }, () => 0);
  counts.set(metric, row);
  return row;
};

const unpacked = ({ keys, quarters, samples = [] }: DayTable): Map<string, Counted> => {
  const all = keys.map((_, n): Counted => ({ counts: new Map(), sample: samples[n] ?? null }));
  for (const [metric, bytes] of Object.entries(quarters))
    unpack(bytes, (count, place) => {
      const counted = all[Math.floor(place / quartersOfDay)];
      if (counted !== undefined) rowOf(counted, metric)[place % quartersOfDay] = count;
    });
  return new Map(all.map((counted, n) => [keys[n] ?? "", counted]));
};

const tableOf = (all: ReadonlyMap<string, Counted>): DayTable => {
  const found = [...all].filter(([, { counts }]) =>
    [...counts.values()].some((row) => row.some((count) => count !== 0)),
  );
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  const metrics = [...new Set(found.flatMap(([, { counts }]) => [...counts.keys()]))].sort();
  const columns = (of: (row: readonly number[]) => readonly number[]): Columns =>
    Object.fromEntries(
      metrics.map((metric) => [metric, packed(found.flatMap(([, counted]) => of(rowOf(counted, metric))))]),
    );
  const samples = found.map(([, { sample }]) => sample);
  return {
    keys: found.map(([key]) => key),
    sums: columns((row) => [sumOf(row)]),
    quarters: columns((row) => row),
    ...(samples.some((sample) => sample !== null) && { samples }),
  };
};

const sumOf = (row: readonly number[]): number => row.reduce((sum, count) => sum + count, 0);
