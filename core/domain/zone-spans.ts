import { dayMs } from "./durations.ts";

/** A stretch of time in which clocks of a zone differ from UTC by `offset`. All in milliseconds. */
export type ZoneSpan = { from: number; until: number; offset: number };

/**
 * What clocks of a zone differ from UTC around an instant: its year with three days before and after. Null for a name
 * that is none of the IANA time zone database. The table is made once for each zone and year.
 */
export const zoneSpans = (name: string, at: Date): readonly ZoneSpan[] | null => {
  const year = at.getUTCFullYear();
  if (latest?.name === name && latest.year === year) return latest.spans; // ranges ask for thousands of instants of one zone
  const spans = spansOf(name, year);
  latest = { name, year, spans };
  return spans;
};

let latest: { name: string; year: number; spans: readonly ZoneSpan[] | null } | undefined;

const spansOf = (name: string, year: number): readonly ZoneSpan[] | null => {
  const key = `${year} ${name}`;
  const known = tables.get(key);
  if (known !== undefined) return known;
  const made = tableOf(name, Date.UTC(year, 0, 1) - marginMs, Date.UTC(year + 1, 0, 1) + marginMs);
  if (tables.size >= mostTables) tables.clear(); // names come from people's properties
  tables.set(key, made);
  return made;
};

/** What clocks differ from UTC at an instant that the spans cover. */
export const offsetAt = (spans: readonly ZoneSpan[], ms: number): number =>
  (spans.find(({ until }) => ms < until) ?? spans.at(-1))?.offset ?? 0;

/**
 * The instant at which clocks show a wall time, `wallMs` as if it were UTC. Of a time that is shown twice the first; of one
 * that is left out the moment at which clocks are put forward; null of a day that is left out whole.
 */
export const instantAt = (spans: readonly ZoneSpan[], wallMs: number): number | null => {
  for (const { from, until, offset } of spans) {
    const ms = wallMs - offset;
    if (ms >= from && ms < until) return ms;
  }
  const after = spans.findIndex(({ from, offset }) => wallMs < from + offset);
  const [before, next] = [spans[after - 1], spans[after]];
  if (before === undefined || next === undefined) return null;
  return next.offset - before.offset >= dayMs ? null : next.from;
};

const tables = new Map<string, readonly ZoneSpan[] | null>();
const mostTables = 2_000; // there are 600 names
const marginMs = 3 * dayMs;
const stepMs = 5 * dayMs; // no zone has changed its clocks twice in so short a time since 1970

const tableOf = (name: string, from: number, until: number): ZoneSpan[] | null => {
  const read = offsetReader(name);
  if (read === null) return null;
  const spans: ZoneSpan[] = [];
  let span: ZoneSpan = { from, until, offset: read(from) };
  for (let ms = from + stepMs; ms < until + stepMs; ms += stepMs) {
    const at = Math.min(ms, until);
    const offset = read(at);
    if (offset === span.offset) continue;
    const changed = changeBetween(read, at - stepMs, at);
    spans.push({ ...span, until: changed });
    span = { from: changed, until, offset };
  }
  return [...spans, span];
};

/** The first second with the offset of `after`. */
const changeBetween = (read: (ms: number) => number, before: number, after: number): number => {
  const offset = read(after);
  let [low, high] = [before, after];
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000;
    if (read(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
};

/** Intl says an offset as `GMT`, `GMT+05:30` or `GMT-00:44:30`. */
const offsetReader = (name: string): ((ms: number) => number) | null => {
  if (!/^[A-Za-z]/.test(name)) return null; // Intl takes offsets for names
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    return (ms) => offsetIn(format.format(ms));
  } catch {
    return null; // RangeError: the only way that Intl says so
  }
};

const offsetIn = (text: string): number => {
  const [, sign = "+", hours = 0, minutes = 0, seconds = 0] = /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? [];
  const ms = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
  return sign === "-" ? -ms : ms;
};
