import type { Metrics } from "../../schema/analytics/metrics.ts";
import type { Message } from "../../schema/messages/message.ts";
import { type Channel, isPhone } from "../../schema/vocabulary/channels.ts";
import type { Entry } from "./day-table.ts";
import { addTo, type Counted } from "./metrics.ts";

/** What deliveries are told apart by. */
export type CellKey = {
  channel: Channel;
  source: Message["source"];
  template_id: string | null;
  campaign_id: string | null;
  category: string | null;
  provider: string | null;
};

/** Counters of deliveries that are alike. */
export type Cell = CellKey & { counts: Counted };

/** Deliveries that failed for one reason. */
export type Failure = Pick<CellKey, "channel" | "provider"> & {
  error_code: string;
  count: number;
  last_at: Date;
  /** One of the messages. */
  message_id: string;
};

/** Deliveries that were suppressed for one reason. */
export type Suppressed = Pick<CellKey, "channel"> & { reason: string; count: number };

/** Mails that failed at the addresses of a domain; null of those whose person was erased. */
export type FailedDomain = Pick<Failure, "count" | "last_at" | "message_id"> & { domain: string | null };

/** Messages to phones that failed in a country; null where nobody knows which. */
export type FailedCountry = Pick<Failure, "channel" | "count" | "last_at" | "message_id"> & { country: string | null };

/** What is kept of a quarter of an hour. */
export type QuarterCounts = {
  cells: Cell[];
  failures: Failure[];
  suppressed: Suppressed[];
  domains: FailedDomain[];
  countries: FailedCountry[];
};

/** Deliveries of a quarter that are alike in all that is told apart, with all of their metrics. */
export type Tally = CellKey & {
  error_code: string | null;
  reason: string | null;
  /** Of a mail with an error code. */
  domain: string | null;
  /** Of a message to a phone with an error code. */
  country: string | null;
  last_at: Date;
  message_id: string;
  counts: Metrics;
};

/** Of a quarter of an hour; what is beyond counts under `other`, as do names that no schema bounds. */
export const mostCells = 100;
const mostFailures = 50;
/** Tallies that are put in order, some 500 bytes each; what comes after them counts under `other`. */
const mostSorted = 10_000;

/** What has no place of its own. */
export const other = "other";
const others = { template_id: other, campaign_id: other, category: other, provider: other };

/** Counters from tallies: what is left over for `other` is what there is least of, and the same each time. */
export const quarterCountsOf = async (tallies: AsyncIterable<Tally>): Promise<QuarterCounts> => {
  const made = nothingMade();
  const [first, rest]: [Tally[], Making] = [[], nothingMade()];
  for await (const tally of tallies)
    if (first.length < mostSorted) first.push(tally);
    else add(rest, { ...tally, ...others, domain: tally.domain === null ? null : other });
  for (const tally of first.sort(largestFirst)) add(made, tally);
  for (const cell of rest.cells.values()) addTo(cellOf(made.cells, cell).counts, cell.counts);
  for (const failure of rest.failures.values()) addFailure(made.failures, failure);
  for (const one of rest.suppressed.values()) addSuppressed(made.suppressed, one);
  for (const one of rest.domains.values()) addDomain(made.domains, one);
  for (const one of rest.countries.values()) addCountry(made.countries, one);
  return {
    cells: [...made.cells.values()],
    failures: [...made.failures.values()],
    suppressed: [...made.suppressed.values()],
    domains: [...made.domains.values()],
    countries: [...made.countries.values()],
  };
};

type Making = {
  cells: Map<string, Cell>;
  failures: Map<string, Failure>;
  suppressed: Map<string, Suppressed>;
  domains: Map<string | null, FailedDomain>;
  countries: Map<string, FailedCountry>;
};

const nothingMade = (): Making => ({
  cells: new Map(),
  failures: new Map(),
  suppressed: new Map(),
  domains: new Map(),
  countries: new Map(),
});

const largestFirst = (a: Tally, b: Tally): number =>
  b.counts.targeted - a.counts.targeted || (tallyKey(a) < tallyKey(b) ? -1 : 1);

const tallyKey = (one: Tally): string =>
  JSON.stringify([cellKey(one), one.error_code, one.reason, one.domain, one.country]);

const add = (made: Making, tally: Tally): void => {
  const { counts, error_code: code, reason, channel } = tally;
  addTo(cellOf(made.cells, tally).counts, counted(counts));
  const failed = counts.failed + counts.errored + counts.expired + counts.bounced;
  if (failed > 0) addFailure(made.failures, { ...tally, error_code: code ?? "UNKNOWN", count: failed });
  if (failed > 0 && channel === "email") addDomain(made.domains, { ...tally, count: failed });
  if (failed > 0 && isPhone(channel)) addCountry(made.countries, { ...tally, count: failed });
  if (counts.suppressed === 0) return;
  addSuppressed(made.suppressed, { channel, reason: reason ?? other, count: counts.suppressed });
};

const addSuppressed = (all: Map<string, Suppressed>, { channel, reason, count }: Suppressed): void => {
  const key = `${channel} ${reason}`;
  all.set(key, { channel, reason, count: count + (all.get(key)?.count ?? 0) });
};

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

const keyOf = ({ channel, source, template_id, campaign_id, category, provider }: CellKey): CellKey => ({
  channel,
  source,
  template_id,
  campaign_id,
  category,
  provider,
});

/** Names a cell among others. */
const cellKey = (of: CellKey): string => JSON.stringify(Object.values(keyOf(of)));

const addFailure = (failures: Map<string, Failure>, one: Failure): void => {
  const isNew = !failures.has(failureKey(one));
  const { channel, provider, error_code, last_at, message_id, count } =
    isNew && failures.size >= mostFailures ? { ...one, provider: other, error_code: other } : one;
  const key = failureKey({ channel, provider, error_code });
  const known = failures.get(key) ?? { channel, provider, error_code, count: 0, last_at, message_id };
  failures.set(key, known.last_at >= last_at ? known : { ...known, last_at, message_id });
  const kept = failures.get(key);
  if (kept !== undefined) kept.count += count;
};

/** Names a failure among others. */
const failureKey = ({ channel, provider, error_code }: Pick<Failure, "channel" | "provider" | "error_code">) =>
  JSON.stringify([channel, provider, error_code]);

const addDomain = (
  all: Map<string | null, FailedDomain>,
  { domain, count, last_at, message_id }: FailedDomain,
): void => {
  const name = domain === null || all.has(domain) || all.size < mostFailures ? domain : other;
  const known = all.get(name) ?? { domain: name, count: 0, last_at, message_id };
  const latest = known.last_at >= last_at ? known : { ...known, last_at, message_id };
  all.set(name, { ...latest, count: known.count + count });
};

/** There are some 250 countries. */
const addCountry = (
  all: Map<string, FailedCountry>,
  { channel, country, count, last_at, message_id }: FailedCountry,
): void => {
  const key = JSON.stringify([channel, country]);
  const known = all.get(key) ?? { channel, country, count: 0, last_at, message_id };
  const latest = known.last_at >= last_at ? known : { ...known, last_at, message_id };
  all.set(key, { ...latest, count: known.count + count });
};

/** What a quarter's counters are kept as. */
export const tablesOf = ({
  cells,
  failures,
  suppressed,
  domains,
  countries,
}: QuarterCounts): Record<CounterTable, Entry[]> => ({
  cells: cells.map((cell) => ({ key: cellKey(cell), counts: cell.counts })),
  failures: failures.map(({ last_at, message_id, count, ...of }) => ({
    key: failureKey(of),
    counts: { count },
    sample: { last_at, message_id },
  })),
  suppressed: suppressed.map(({ channel, reason, count }) => ({
    key: JSON.stringify([channel, reason]),
    counts: { count },
  })),
  domains: domains.map(({ domain, last_at, message_id, count }) => ({
    key: JSON.stringify([domain]),
    counts: { count },
    sample: { last_at, message_id },
  })),
  countries: countries.map(({ channel, country, last_at, message_id, count }) => ({
    key: JSON.stringify([channel, country]),
    counts: { count },
    sample: { last_at, message_id },
  })),
});

/** Tables of counters of a day. */
export const counterTables = ["cells", "failures", "suppressed", "domains", "countries"] as const;
export type CounterTable = (typeof counterTables)[number];

/** What deliveries of a cell are told apart by. */
export const cellOfKey = (key: string): CellKey => {
  const [channel, source, template_id, campaign_id, category, provider] = JSON.parse(key) as Values; // sound: cellKey wrote it
  return { channel, source, template_id, campaign_id, category, provider };
};

type Values = [
  CellKey["channel"],
  CellKey["source"],
  CellKey["template_id"],
  CellKey["campaign_id"],
  CellKey["category"],
  CellKey["provider"],
];

/** What failures are told apart by. */
export const failureOfKey = (key: string): Pick<Failure, "channel" | "provider" | "error_code"> => {
  const [channel, provider, error_code] = JSON.parse(key) as [Failure["channel"], string | null, string]; // sound: failureKey wrote it
  return { channel, provider, error_code };
};

/** What suppressed deliveries are told apart by. */
export const suppressedOfKey = (key: string): Pick<Suppressed, "channel" | "reason"> => {
  const [channel, reason] = JSON.parse(key) as [Suppressed["channel"], string]; // sound: tablesOf wrote it
  return { channel, reason };
};

/** The domain of failed mails. */
export const domainOfKey = (key: string): FailedDomain["domain"] => {
  const [domain] = JSON.parse(key) as [string | null]; // sound: tablesOf wrote it
  return domain;
};

/** Where failed messages to phones went. */
export const countryOfKey = (key: string): Pick<FailedCountry, "channel" | "country"> => {
  const [channel, country] = JSON.parse(key) as [FailedCountry["channel"], string | null]; // sound: tablesOf wrote it
  return { channel, country };
};
