import type { Metrics } from "../../schema/analytics/metrics.ts";
import { isPhone } from "../../schema/vocabulary/channels.ts";
import { addTo, type Counted } from "./metrics.ts";
import {
  type Cell,
  type CellKey,
  cellKey,
  countryKey,
  domainKey,
  type FailedCountry,
  type FailedDomain,
  type Failure,
  failureKey,
  keyOf,
  type MessageCell,
  messageKey,
  type NamedCell,
  namedKey,
  type Origin,
  type QuarterCounts,
  type Suppressed,
  suppressedKey,
} from "./tables.ts";

/** Deliveries of a quarter that are alike in all that is told apart, with all of their metrics. */
export type Tally = CellKey & {
  error_code: string | null;
  reason: string | null;
  /** Of a mail with an error code. */
  domain: string | null;
  /** Of a message to a phone with an error code. */
  country: string | null;
  status: string;
  /** Of their message. */
  labels: readonly string[];
  segment_ids: readonly string[];
  last_at: Date;
  message_id: string;
  counts: Metrics;
};

/** Of a quarter of an hour; what is beyond counts under `other`, as do names that no schema bounds. */
export const mostCells = 100;
/** Failures, with what their messages are; as many more without. */
const mostFailures = 100;
/** Tallies that are put in order, some 500 bytes each; what comes after them counts under `other`. */
const mostSorted = 10_000;

/** What has no place of its own. */
export const other = "other";
const others = { template_id: other, campaign_id: other, category: other, provider: other };

/** Counters from tallies: what is left over for `other` is what there is least of, and the same each time. */
export const quarterCountsOf = async (
  tallies: AsyncIterable<Tally>,
): Promise<Omit<QuarterCounts, "messages" | "times">> => {
  const made = nothingMade();
  const [first, rest]: [Tally[], Making] = [[], nothingMade()];
  for await (const tally of tallies)
    if (first.length < mostSorted) first.push(tally);
    else add(rest, withoutNames(tally));
  for (const tally of first.sort(largestFirst)) add(made, tally);
  for (const cell of rest.cells.values()) addTo(cellOf(made.cells, cell).counts, cell.counts);
  for (const table of namedTables) for (const one of rest[table].values()) addNamed(made[table], one, one.counts);
  for (const failure of rest.failures.values()) addFailure(made.failures, failure);
  for (const one of rest.suppressed.values()) addSuppressed(made.suppressed, one);
  for (const one of rest.domains.values()) addDomain(made.domains, one);
  for (const one of rest.countries.values()) addCountry(made.countries, one);
  return {
    cells: [...made.cells.values()],
    labels: [...made.labels.values()],
    segments: [...made.segments.values()],
    statuses: [...made.statuses.values()],
    failures: [...made.failures.values()],
    suppressed: [...made.suppressed.values()],
    domains: [...made.domains.values()],
    countries: [...made.countries.values()],
  };
};

const namedTables = ["labels", "segments", "statuses"] as const;

/** What is beyond those that are put in order: its names are not told apart. */
const withoutNames = (tally: Tally): Tally => ({
  ...tally,
  ...others,
  domain: tally.domain === null ? null : other,
  labels: tally.labels.length === 0 ? [] : [other],
  segment_ids: tally.segment_ids.length === 0 ? [] : [other],
});

/** The most frequent messages of a quarter; what is beyond has `other` for its names. */
export const messagesOf = async (found: AsyncIterable<MessageCell>): Promise<MessageCell[]> => {
  const first: MessageCell[] = [];
  const all = new Map<string, MessageCell>();
  const see = (cell: MessageCell, isNamed: boolean): void => {
    const key = isNamed ? cell : { ...cell, ...namesOfOthers };
    const known = all.get(messageKey(key)) ?? { ...key, count: 0 };
    all.set(messageKey(key), { ...known, count: known.count + cell.count });
  };
  for await (const cell of found)
    if (first.length < mostSorted) first.push(cell);
    else see(cell, false);
  first.sort((a, b) => b.count - a.count || (messageKey(a) < messageKey(b) ? -1 : 1));
  for (const [n, cell] of first.entries()) see(cell, n < mostCells);
  return [...all.values()];
};

const namesOfOthers = {
  template_id: other,
  campaign_id: other,
  category: other,
  labels: [other],
  segment_ids: [other],
};

type Making = {
  cells: Map<string, Cell>;
  labels: Map<string, NamedCell>;
  segments: Map<string, NamedCell>;
  statuses: Map<string, NamedCell>;
  failures: Map<string, Failure>;
  suppressed: Map<string, Suppressed>;
  domains: Map<string, FailedDomain>;
  countries: Map<string, FailedCountry>;
};

const nothingMade = (): Making => ({
  cells: new Map(),
  labels: new Map(),
  segments: new Map(),
  statuses: new Map(),
  failures: new Map(),
  suppressed: new Map(),
  domains: new Map(),
  countries: new Map(),
});

const largestFirst = (a: Tally, b: Tally): number =>
  b.counts.targeted - a.counts.targeted || (tallyKey(a) < tallyKey(b) ? -1 : 1);

const tallyKey = (one: Tally): string =>
  JSON.stringify([
    cellKey(one),
    one.error_code,
    one.reason,
    one.domain,
    one.country,
    one.status,
    one.labels,
    one.segment_ids,
  ]);

const add = (made: Making, tally: Tally): void => {
  const { counts, error_code: code, reason, channel } = tally;
  const cell = cellOf(made.cells, tally);
  addTo(cell.counts, counted(counts));
  for (const name of new Set(tally.labels)) addNamed(made.labels, { ...cell, name }, counted(counts));
  for (const name of new Set(tally.segment_ids)) addNamed(made.segments, { ...cell, name }, counted(counts));
  addNamed(made.statuses, { ...cell, name: tally.status }, { targeted: counts.targeted });
  const origin = originOf(tally);
  const failed = { ...tally, origin, count: counts.failed + counts.errored + counts.expired + counts.bounced };
  if (failed.count > 0) addFailure(made.failures, { ...failed, error_code: code ?? "UNKNOWN" });
  if (failed.count > 0 && channel === "email") addDomain(made.domains, failed);
  if (failed.count > 0 && isPhone(channel)) addCountry(made.countries, failed);
  if (counts.suppressed === 0) return;
  addSuppressed(made.suppressed, { channel, reason: reason ?? other, origin, count: counts.suppressed });
};

const originOf = ({ source, template_id, campaign_id, category, labels, segment_ids }: Tally): Origin => ({
  source,
  template_id,
  campaign_id,
  category,
  labels,
  segment_ids,
});

const counted = (counts: Metrics): Counted =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

const cellOf = (cells: Map<string, Cell>, of: CellKey): Cell => {
  const known = cells.get(cellKey(of));
  if (known !== undefined) return known;
  const { channel, source } = of;
  const key: CellKey = cells.size < mostCells ? keyOf(of) : { channel, source, ...others };
  const made = cells.get(cellKey(key)) ?? { ...key, counts: {} };
  cells.set(cellKey(key), made);
  return made;
};

/** As many names as are told apart, each in some cells. */
const mostNamed = 10 * mostCells;

const addNamed = (all: Map<string, NamedCell>, of: CellKey & { name: string }, counts: Counted): void => {
  const isKnown = all.has(namedKey(of)) || all.size < mostNamed;
  const { channel, source } = of;
  const key = isKnown ? { name: of.name, ...keyOf(of) } : { name: other, channel, source, ...others };
  const known = all.get(namedKey(key)) ?? { ...key, counts: {} };
  addTo(known.counts, counts);
  all.set(namedKey(key), known);
};

type One = { origin?: Origin; count: number; last_at?: Date; message_id?: string };

/** Counts one under the first of some names that is there or has room: each tells less apart than the one before, the last has room. */
const addUnder = <T extends One>(all: Map<string, T>, keyOf: (one: T) => string, names: readonly T[]): void => {
  const mosts = [mostFailures, 2 * mostFailures];
  const isFree = (one: T, n: number): boolean => all.has(keyOf(one)) || all.size < (mosts[n] ?? 0);
  const one = names.find(isFree) ?? names.at(-1);
  if (one === undefined) return;
  const known = all.get(keyOf(one));
  const isLater = known?.last_at !== undefined && one.last_at !== undefined && one.last_at > known.last_at;
  all.set(keyOf(one), { ...(known === undefined || isLater ? one : known), count: (known?.count ?? 0) + one.count });
};

/** One whose message's names are not told apart. */
const unnamed = <T extends One>(one: T): T => {
  const { source = "api", labels = [], segment_ids: segments = [] } = one.origin ?? {};
  const { provider: _provider, ...names } = others;
  const origin: Origin = {
    source,
    ...names,
    labels: labels.length === 0 ? [] : [other],
    segment_ids: segments.length === 0 ? [] : [other],
  };
  return { ...one, origin };
};

const addFailure = (all: Map<string, Failure>, failure: Failure): void => {
  const { channel, provider, error_code, origin, count, last_at, message_id } = failure;
  const one: Failure = { channel, provider, error_code, ...(origin && { origin }), count, last_at, message_id };
  addUnder(all, failureKey, [one, unnamed(one), unnamed({ ...one, provider: other, error_code: other })]);
};

const addDomain = (all: Map<string, FailedDomain>, { domain, origin, count, last_at, message_id }: FailedDomain) => {
  const one: FailedDomain = { domain, ...(origin && { origin }), count, last_at, message_id };
  addUnder(all, domainKey, [one, unnamed(one), unnamed({ ...one, domain: domain === null ? null : other })]);
};

/** There are some 250 countries. */
const addCountry = (all: Map<string, FailedCountry>, failed: FailedCountry): void => {
  const { channel, country, origin, count, last_at, message_id } = failed;
  const one: FailedCountry = { channel, country, ...(origin && { origin }), count, last_at, message_id };
  addUnder(all, countryKey, [one, unnamed(one)]);
};

/** There are some 20 reasons. */
const addSuppressed = (all: Map<string, Suppressed>, one: Suppressed): void =>
  addUnder(all, suppressedKey, [one, unnamed(one)]);
