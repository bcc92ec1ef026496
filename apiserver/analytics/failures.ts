import { adviceOn } from "#core/domain/analytics/advice.ts";
import type { Sample } from "#core/domain/analytics/day-table.ts";
import type { ReadDay } from "#core/domain/analytics/spread.ts";
import {
  countryOfKey,
  domainOfKey,
  failureOfKey,
  type Origin,
  suppressedOfKey,
} from "#core/domain/analytics/tables.ts";
import { Failures, type FailuresQuery } from "#core/schema/analytics/deliveries.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { type CountsDeps, type Reading, rangeAxis, rangeMembers, readCounts } from "./counts.ts";

/** Why deliveries did not arrive. Source: docs/reference/analytics.md#failures. */
export const failures = (deps: CountsDeps & AnswersDeps) =>
  answering<FailuresQuery, Failures>(deps, "quarter", async (app, question) => {
    const [members, data, suppressed] = await Promise.all([
      rangeMembers(deps, app, question, { needsAllFacts: isAboutMessages(question.query) }),
      failed(deps, app, question),
      suppressedBy(deps, app, question),
    ]);
    return showAs(Failures, { ...members, data, suppressed });
  });

/** What their messages are, and countries, deliveries have named for a shorter time than why they failed. */
const isAboutMessages = ({
  group_by: grouping,
  source,
  label,
  segment_id: segment,
  ...query
}: FailuresQuery): boolean =>
  grouping === "country" ||
  [source, label, segment, ...names.map((name) => query[name])].some((one) => one !== undefined);

type Ask = Question<FailuresQuery>;

const failed = async (deps: CountsDeps, app: AppRow, { asked: { range }, query }: Ask): Promise<Failures["data"]> => {
  const { group_by: grouping = "error_code" } = query;
  const table = grouping === "domain" ? "domains" : grouping === "country" ? "countries" : "failures";
  const groupOf = (text: string): string | null => {
    const { name, ...of } = namedBy(grouping, text);
    return isAsked(query, of) ? JSON.stringify([name ?? "none", of.channel]) : null;
  };
  const latest = new Map<string, Sample>();
  const onDay = (day: ReadDay): void => keepLatest(latest, day, groupOf);
  const found = await countsOf(deps, app, range, { table, groupOf, onDay });
  const all = found.reduce((sum, { count }) => sum + count, 0);
  return found.map(({ group, count }) => {
    const [key, channel] = JSON.parse(group) as [string, Failed["channel"]]; // sound: groupOf wrote it
    const { last_at = range.from, message_id: sample_message = "" } = latest.get(group) ?? {};
    const times = { last_at: last_at.toISOString(), sample_message };
    return { key, channel, count, share: count / all, ...times, ...advised(key, grouping) };
  });
};

type Grouping = NonNullable<FailuresQuery["group_by"]>;

type Of = { channel: Failed["channel"]; origin?: Origin };

const namedBy = (grouping: Grouping, key: string): Of & { name: string | null } => {
  if (grouping === "domain") {
    const { domain: name, ...of } = domainOfKey(key);
    return { name, channel: "email", ...of };
  }
  if (grouping === "country") {
    const { country: name, ...of } = countryOfKey(key);
    return { name, ...of };
  }
  const { [grouping]: name, ...of } = failureOfKey(key);
  return { name, ...of };
};

type Failed = Failures["data"][number];

const suppressedBy = async (deps: CountsDeps, app: AppRow, { asked: { range }, query }: Ask) => {
  const groupOf = (text: string): string | null => {
    const { reason, ...of } = suppressedOfKey(text);
    return isAsked(query, of) ? reason : null;
  };
  const found = await countsOf(deps, app, range, { table: "suppressed", groupOf });
  return found.map(({ group: reason, count }) => ({ reason, count }));
};

const isAsked = ({ channel, ...query }: FailuresQuery, of: Of): boolean =>
  (channel?.includes(of.channel) ?? true) && isFrom(query, of.origin);

const names = ["category", "campaign_id", "template_id"] as const;

/** Of what a former release counted nobody knows what its messages were: it fits no question about them. */
const isFrom = (query: Omit<FailuresQuery, "channel">, origin: Origin | undefined): boolean => {
  const { source, label, segment_id: segment } = query;
  if (origin === undefined)
    return [source, label, segment, ...names.map((name) => query[name])].every((one) => one === undefined);
  return (
    (source?.includes(origin.source) ?? true) &&
    names.every((name) => query[name] === undefined || query[name] === origin[name]) &&
    (label === undefined || origin.labels.includes(label)) &&
    (segment === undefined || origin.segment_ids.includes(segment))
  );
};

/** Groups of a range that have any, the most frequent first. */
const countsOf = async (
  deps: CountsDeps,
  app: AppRow,
  range: HourRange,
  of: Pick<Reading, "table" | "groupOf" | "onDay">,
): Promise<{ group: string; count: number }[]> => {
  const found = await readCounts(deps, app, { ...of, axis: rangeAxis(range), metrics: ["count"] });
  return [...found]
    .flatMap(([group, [count = 0]]) => (count > 0 ? [{ group, count }] : []))
    .sort((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1));
};

/** Keeps the latest sample of each group. */
const keepLatest = (
  latest: Map<string, Sample>,
  { keys, samples = [] }: ReadDay,
  groupOf: Reading["groupOf"],
): void => {
  for (const [n, sample] of samples.entries()) {
    const group = sample === null ? null : groupOf(keys[n] ?? "");
    const known = group === null ? undefined : latest.get(group);
    if (group !== null && sample !== null && (known === undefined || known.last_at < sample.last_at))
      latest.set(group, sample);
  }
};

const advised = (key: string, grouping: Grouping) => {
  const known = grouping === "error_code" ? adviceOn(key) : null;
  return { retryable: known?.isRetryable ?? null, advice: known?.advice ?? null };
};
