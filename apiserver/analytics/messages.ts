import { addTo, channelsIn, noMetrics, ratesOf, totalOf } from "#core/domain/analytics/metrics.ts";
import type { CounterTable } from "#core/domain/analytics/tables.ts";
import { defined } from "#core/domain/defined.ts";
import { invalid } from "#core/errors.ts";
import {
  analyticsMessagePaging,
  MessageMetrics,
  type MessagesQuery,
  MessageTotals,
  MessageTotalsPage,
} from "#core/schema/analytics/messages.ts";
import { type Metrics, metrics } from "#core/schema/analytics/metrics.ts";
import { analyticsLimits } from "#core/schema/analytics/query.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { MessageFilter, Messages } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import type { Within } from "#core/storage/mongo/read-within.ts";
import { type Cursors, readPage } from "../http/pages.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { askedCells, type CountsDeps, needsAllFacts, rangeAxis, rangeMembers, readCounts } from "./counts.ts";
import { metricsAt } from "./totals.ts";

export type MessagesDeps = CountsDeps & AnswersDeps & { messages: Pick<Messages, "list">; cursors: Cursors };

/** What became of each message of a range, or of those of each campaign or template. Source: docs/reference/analytics.md#messages. */
export const messageTotals = (deps: MessagesDeps) =>
  answering<MessagesQuery, MessageTotalsPage>(deps, "quarter", async (app, question) => {
    const sort = checkedSort(question.query);
    const [members, page] = await Promise.all([
      rangeMembers(deps, app, question, needsAllFacts(tableOf(question.query), [])),
      readPage<MessageTotals, MessageTotals, SortPosition | string>({
        cursors: deps.cursors,
        paging: analyticsMessagePaging,
        list: `analytics/messages/${app._id}`,
        query: { ...question.query, sort },
        read: (place) => readTotals(deps, app, question, place),
        positionOf: (one, key) => (key === "created_at" ? one.key : { value: valueOf(one, key), id: one.key }),
        view: (one) => one,
      }),
    ]);
    return showAs(MessageTotalsPage, { ...members, ...page });
  });

/** Messages name their labels themselves. */
const tableOf = (query: MessagesQuery): CounterTable =>
  ["campaign_id", "template_id"].includes(query.group_by ?? "message") ? askedCells(query).table : "cells";

type Ask = Question<MessagesQuery>;
type Place = { after: SortPosition | string | null; sort: string; isDescending: boolean; limit: number };

/** The order of a page. @throws ValidationError for what a grouping does not have */
const checkedSort = ({
  group_by: grouping = "message",
  sort,
  segment_id: segment,
  channel,
  source,
}: MessagesQuery): string => {
  const isOfMessages = grouping === "message" || grouping === "label";
  if (isOfMessages) {
    if (channel !== undefined)
      throw invalid("channel", "is for campaigns and templates: of a message all channels count");
    if ((source?.length ?? 1) > 1)
      throw invalid("source", "is one of messages; of campaigns and templates it may be several");
    if (segment !== undefined) throw invalid("segment_id", "is for campaigns and templates");
    if (grouping === "message") return sort ?? "-created_at";
  }
  if (sort?.endsWith("created_at") === true) throw invalid("sort", "created_at is an order of messages");
  return sort ?? "-targeted";
};

const readTotals = async (deps: MessagesDeps, app: AppRow, question: Ask, place: Place) => {
  const { group_by: grouping = "message" } = question.query;
  if (grouping === "label") return sorted(totalsOfLabels(await rowsOf(deps, app, question)), place);
  if (grouping !== "message") return sorted(await totalsOfGroups(deps, app, question, grouping), place);
  if (place.sort !== "created_at") return sorted((await rowsOf(deps, app, question)).map(totalsOfMessage), place);
  const found = await listed(deps, app, question, place);
  return { ...found, rows: found.rows.map(totalsOfMessage) };
};

const listed = (deps: MessagesDeps, app: AppRow, { asked: { range }, query }: Ask, place: Place) => {
  const { source, label, category, campaign_id: campaignId, template_id: templateId } = query;
  const times = { from: range.from, to: new Date(range.to.getTime() - 1) }; // the list has both ends
  const filter: MessageFilter = defined({ source: source?.[0], label, category, campaignId, templateId, ...times });
  if (range.from >= range.to) return Promise.resolve<Within<CountedRow>>({ rows: [], isWhole: true });
  const after = typeof place.after === "string" ? place.after : null;
  const page = { after, isDescending: place.isDescending, limit: place.limit, members };
  return deps.messages.list({ ...ofApp(app), filter }, page, AbortSignal.timeout(readMs));
};

const readMs = 10_000;

/** What is shown and counted of a message: what it says may be a hundred times as long. */
const members = [
  "_id",
  "name",
  "source",
  "labels",
  "channels",
  "counts",
  "created_at",
  "dispatched_at",
  "started_at",
] as const satisfies readonly (keyof MessageRow)[];
type CountedRow = Pick<MessageRow, (typeof members)[number]>;

/** All of a range. @throws ValidationError when there are more than are read */
const rowsOf = async (deps: MessagesDeps, app: AppRow, question: Ask): Promise<CountedRow[]> => {
  const all: CountedRow[] = [];
  const { sortedMessages: most } = analyticsLimits;
  for (let after: string | null = null; ; after = all.at(-1)?._id ?? null) {
    const place = { after, sort: "created_at", isDescending: false, limit: most + 1 - all.length };
    const { rows, isWhole } = await listed(deps, app, question, place);
    all.push(...rows);
    if (all.length > most) {
      const [field, what] =
        question.query.group_by === "label" ? ["group_by", "label"] : ["sort", "all but created_at"];
      throw invalid(field, `${what} is for ranges of at most ${most} messages`, { limit: most });
    }
    if (isWhole) return all;
  }
};

/** A message counts under each of its labels. */
const totalsOfLabels = (rows: readonly CountedRow[]): MessageTotals[] => {
  const byLabel = new Map<string, { totals: Metrics; channels: Set<Channel> }>();
  for (const { labels, counts, channels } of rows)
    for (const label of labels.length === 0 ? ["none"] : new Set(labels)) {
      const of = byLabel.get(label) ?? { totals: noMetrics(), channels: new Set() };
      addTo(of.totals, counts);
      for (const channel of channels) of.channels.add(channel);
      byLabel.set(label, of);
    }
  return [...byLabel].map(([key, { totals, channels }]) => ({
    key,
    ...noMessage,
    totals: showAs(MessageMetrics, totals),
    rates: ratesOf(totals, channels),
  }));
};

const totalsOfMessage = (row: CountedRow): MessageTotals => {
  const totals = { ...noMetrics(), ...row.counts };
  return showAs(MessageTotals, {
    key: row._id,
    name: row.name,
    message_id: row._id,
    source: row.source,
    created_at: row.created_at,
    first_sent_at: row.dispatched_at ?? row.started_at,
    totals: showAs(MessageMetrics, totals),
    rates: ratesOf(totals, row.channels),
  });
};

const noMessage = { name: null, message_id: null, source: null, created_at: null, first_sent_at: null };

const totalsOfGroups = async (
  deps: MessagesDeps,
  app: AppRow,
  { asked: { range }, query }: Ask,
  grouping: "campaign_id" | "template_id",
): Promise<MessageTotals[]> => {
  const { table, of } = askedCells(query);
  const groupOf = (key: string): string | null => {
    const cell = of(key);
    return cell === null ? null : JSON.stringify([cell[grouping] ?? "none", cell.channel]);
  };
  const found = await readCounts(deps, app, { table, axis: rangeAxis(range), metrics, groupOf });
  const byName = Map.groupBy(
    [...found].map(([group, spread]) => {
      const [name, channel] = JSON.parse(group) as [string, Channel]; // sound: groupOf wrote it
      return { name, channel, counts: metricsAt(spread, metrics, 0) };
    }),
    ({ name }) => name,
  );
  return [...byName].map(([key, all]) => {
    const byChannel = new Map<Channel, Metrics>(all.map(({ channel, counts }) => [channel, counts]));
    const totals = totalOf(byChannel);
    const rates = ratesOf(totals, query.channel ?? channelsIn(byChannel));
    return { key, ...noMessage, totals: showAs(MessageMetrics, totals), rates };
  });
};

const valueOf = ({ totals, rates }: MessageTotals, key: string): number => {
  const all: Record<string, number | string | null> = { ...totals, ...rates };
  return Number(all[key] ?? -1); // a rate of nothing comes after 0
};

/** A page of items that are all in memory, behind another. */
const sorted = (all: readonly MessageTotals[], { after, sort, isDescending, limit }: Place): MessageTotals[] => {
  const sign = isDescending ? -1 : 1;
  const compare = (a: SortPosition, b: SortPosition): number =>
    sign * (Number(a.value) - Number(b.value)) || sign * (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  return all
    .map((one) => ({ one, at: { value: valueOf(one, sort), id: one.key } }))
    .filter(({ at }) => after === null || typeof after === "string" || compare(at, after) > 0)
    .sort((a, b) => compare(a.at, b.at))
    .slice(0, limit)
    .map(({ one }) => one);
};
