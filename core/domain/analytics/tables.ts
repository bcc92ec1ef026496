import type { Message } from "../../schema/messages/message.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { Entry } from "./day-table.ts";
import type { Counted } from "./metrics.ts";

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

/** What the message of a delivery is, by which may be asked for what did not arrive. */
export type Origin = Pick<CellKey, "source" | "template_id" | "campaign_id" | "category"> & {
  labels: readonly string[];
  segment_ids: readonly string[];
};

/** Deliveries that are alike. `origin`: absent of those that a former release counted, of several messages. */
type Alike = { origin?: Origin; count: number };
/** The last of them, and its message. */
type Last = { last_at: Date; message_id: string };

/** Deliveries that failed for one reason. */
export type Failure = Pick<CellKey, "channel" | "provider"> & { error_code: string } & Alike & Last;

/** Deliveries that were suppressed for one reason. */
export type Suppressed = Pick<CellKey, "channel"> & { reason: string } & Alike;

/** Mails that failed at the addresses of a domain; null of those whose person was erased. */
export type FailedDomain = { domain: string | null } & Alike & Last;

/** Messages to phones that failed in a country; null where nobody knows which. */
export type FailedCountry = Pick<CellKey, "channel"> & { country: string | null } & Alike & Last;

/** Counters of deliveries that are alike, and have a label, a segment or a status. */
export type NamedCell = Cell & { name: string };

/** Messages that are alike in all that can be asked for. */
export type MessageCell = Pick<CellKey, "source" | "template_id" | "campaign_id" | "category"> & {
  channels: readonly Channel[];
  labels: readonly string[];
  segment_ids: readonly string[];
  count: number;
};

/** How many deliveries of a channel took about so long. */
export type TimeClass = Pick<CellKey, "channel"> & { class: number; count: number };

/** What is kept of a quarter of an hour. */
export type QuarterCounts = {
  cells: Cell[];
  /** By label and by segment of their message: one with several counts under each. */
  labels: NamedCell[];
  segments: NamedCell[];
  /** How many there are by status. */
  statuses: NamedCell[];
  failures: Failure[];
  suppressed: Suppressed[];
  domains: FailedDomain[];
  countries: FailedCountry[];
  /** Messages that were accepted in it, and sent. */
  messages: MessageCell[];
  times: TimeClass[];
};

/** What a quarter's counters are kept as. */
export const tablesOf = ({
  cells,
  labels,
  segments,
  statuses,
  failures,
  suppressed,
  domains,
  countries,
  messages,
  times,
}: QuarterCounts): Record<CounterTable, Entry[]> => ({
  cells: cells.map((cell) => ({ key: cellKey(cell), counts: cell.counts })),
  labels: labels.map(named),
  segments: segments.map(named),
  statuses: statuses.map(named),
  failures: failures.map((one) => sampled(failureKey(one), one)),
  suppressed: suppressed.map((one) => ({ key: suppressedKey(one), counts: { count: one.count } })),
  domains: domains.map((one) => sampled(domainKey(one), one)),
  countries: countries.map((one) => sampled(countryKey(one), one)),
  messages: messages.map(({ count, ...of }) => ({ key: messageKey(of), counts: { count } })),
  times: [...Map.groupBy(times, timesKey)].map(([key, classes]) => ({
    key,
    counts: Object.fromEntries(classes.map((one) => [`c${one.class % classesOfKey}`, one.count])),
  })),
});

/** Times have a column for each of some classes, and a key for each channel and as many classes: less is read than with either alone. */
const classesOfKey = 16;
const timesKey = ({ channel, class: of }: TimeClass): string =>
  JSON.stringify([channel, Math.floor(of / classesOfKey)]);

/** Whose times are counted under a key, and which class its first column is. */
export const timesOfKey = (key: string): Omit<TimeClass, "count"> => {
  const [channel, n] = JSON.parse(key) as [TimeClass["channel"], number]; // sound: timesKey wrote it
  return { channel, class: n * classesOfKey };
};

/** How many classes behind the first a column is. */
export const classOfColumn = (name: string): number => Number(name.slice(1));

const sampled = (key: string, { count, last_at, message_id }: Alike & Last): Entry => ({
  key,
  counts: { count },
  sample: { last_at, message_id },
});

const named = (cell: NamedCell): Entry => ({ key: namedKey(cell), counts: cell.counts });

/** Tables of counters of a day. */
export const counterTables = [
  "cells",
  "labels",
  "segments",
  "statuses",
  "failures",
  "suppressed",
  "domains",
  "countries",
  "messages",
  "times",
] as const;
export type CounterTable = (typeof counterTables)[number];

/** What deliveries of a cell are told apart by; null is the name of a cell that has none. */
export const cellOfKey = (key: string): CellKey & { name: string | null } => {
  const [channel, source, template_id, campaign_id, category, provider, name = null] = JSON.parse(key) as Values; // sound: cellKey or namedKey wrote it
  return { channel, source, template_id, campaign_id, category, provider, name };
};

type Values = [
  CellKey["channel"],
  CellKey["source"],
  CellKey["template_id"],
  CellKey["campaign_id"],
  CellKey["category"],
  CellKey["provider"],
  string?,
];

type OriginValues = [
  Origin["source"],
  Origin["template_id"],
  Origin["campaign_id"],
  Origin["category"],
  Origin["labels"],
  Origin["segment_ids"],
];

/** An origin at the end of a key. */
const originIn = ({ origin }: Pick<Alike, "origin">): [OriginValues] | [] =>
  origin === undefined
    ? []
    : [[origin.source, origin.template_id, origin.campaign_id, origin.category, origin.labels, origin.segment_ids]];

const originFrom = (values: OriginValues | undefined): Pick<Alike, "origin"> => {
  if (values === undefined) return {};
  const [source, template_id, campaign_id, category, labels, segment_ids] = values;
  return { origin: { source, template_id, campaign_id, category, labels, segment_ids } };
};

/** Names failures among others. */
export const failureKey = (of: Omit<Failure, "count" | keyof Last>): string =>
  JSON.stringify([of.channel, of.provider, of.error_code, ...originIn(of)]);

/** What failures are told apart by. */
export const failureOfKey = (key: string): Omit<Failure, "count" | keyof Last> => {
  const [channel, provider, error_code, of] = JSON.parse(key) as [
    Failure["channel"],
    string | null,
    string,
    OriginValues?,
  ]; // sound: failureKey wrote it
  return { channel, provider, error_code, ...originFrom(of) };
};

/** Names suppressed deliveries among others. */
export const suppressedKey = (of: Omit<Suppressed, "count">): string =>
  JSON.stringify([of.channel, of.reason, ...originIn(of)]);

/** What suppressed deliveries are told apart by. */
export const suppressedOfKey = (key: string): Omit<Suppressed, "count"> => {
  const [channel, reason, of] = JSON.parse(key) as [Suppressed["channel"], string, OriginValues?]; // sound: suppressedKey wrote it
  return { channel, reason, ...originFrom(of) };
};

/** Names failed mails among others. */
export const domainKey = (of: Omit<FailedDomain, "count" | keyof Last>): string =>
  JSON.stringify([of.domain, ...originIn(of)]);

/** What failed mails are told apart by. */
export const domainOfKey = (key: string): Omit<FailedDomain, "count" | keyof Last> => {
  const [domain, of] = JSON.parse(key) as [string | null, OriginValues?]; // sound: domainKey wrote it
  return { domain, ...originFrom(of) };
};

/** Names failed messages to phones among others. */
export const countryKey = (of: Omit<FailedCountry, "count" | keyof Last>): string =>
  JSON.stringify([of.channel, of.country, ...originIn(of)]);

/** What failed messages to phones are told apart by. */
export const countryOfKey = (key: string): Omit<FailedCountry, "count" | keyof Last> => {
  const [channel, country, of] = JSON.parse(key) as [FailedCountry["channel"], string | null, OriginValues?]; // sound: countryKey wrote it
  return { channel, country, ...originFrom(of) };
};

/** What messages are told apart by. */
export const messageOfKey = (key: string): Omit<MessageCell, "count"> => {
  const [channels, source, template_id, campaign_id, category, labels, segment_ids] = JSON.parse(key) as MessageValues; // sound: messageKey wrote it
  return { channels, source, template_id, campaign_id, category, labels, segment_ids };
};

type MessageValues = [
  MessageCell["channels"],
  MessageCell["source"],
  MessageCell["template_id"],
  MessageCell["campaign_id"],
  MessageCell["category"],
  MessageCell["labels"],
  MessageCell["segment_ids"],
];

/** The members of a cell's key alone, in their order. */
export const keyOf = ({ channel, source, template_id, campaign_id, category, provider }: CellKey): CellKey => ({
  channel,
  source,
  template_id,
  campaign_id,
  category,
  provider,
});

/** Names a cell among others. */
export const cellKey = (of: CellKey): string => JSON.stringify(Object.values(keyOf(of)));
/** Names one of a label, segment or status among others. */
export const namedKey = (of: CellKey & { name: string }): string =>
  JSON.stringify([...Object.values(keyOf(of)), of.name]);

/** Names messages among others. */
export const messageKey = ({
  channels,
  source,
  template_id,
  campaign_id,
  category,
  labels,
  segment_ids,
}: Omit<MessageCell, "count">): string =>
  JSON.stringify([channels, source, template_id, campaign_id, category, labels, segment_ids]);
