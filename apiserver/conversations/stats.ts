import type { Clock } from "#core/domain/clock.ts";
import { dayOf, medianOf, partsOfKey, type Tally } from "#core/domain/conversations/tally.ts";
import { defined } from "#core/domain/defined.ts";
import {
  type ConversationStats,
  type ConversationStatsQuery,
  mostAssignees,
} from "#core/schema/conversations/stats.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationCounts } from "#core/storage/conversations/counts.ts";
import type { conversationList } from "#core/storage/conversations/list.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";

export type StatsDeps = {
  counts: Pick<ConversationCounts, "find">;
  page: ReturnType<typeof conversationList>;
  clock: Clock;
};

/** How many conversations of an app are what, as they were counted a moment ago. */
export const conversationStats =
  ({ counts, page, clock }: StatsDeps) =>
  async (app: AppRow, query: ConversationStatsQuery): Promise<ConversationStats> => {
    const oldest = { sort: "waiting_since", after: null, isDescending: false, limit: 1 } as const;
    const filter = defined({ channel: query.channel, assigneeId: query.assignee_id });
    const [row, waiting] = await Promise.all([counts.find(ofApp(app)), page(ofApp(app), filter, oldest)]);
    const all = Object.entries(row?.tallies ?? {}).map(([key, tally]) => ({ ...partsOfKey(key), tally }));
    const wanted = all.filter(
      ({ channel, assigneeId }) =>
        (query.channel ?? channel) === channel && (query.assignee_id ?? assigneeId) === assigneeId,
    );
    return statsOf(wanted, dayOf(clock.now()), waiting.rows[0]);
  };

type Part = { channel: string; assigneeId: string; tally: Tally };

const statsOf = (parts: readonly Part[], today: string, oldest: ConversationRow | undefined): ConversationStats => {
  const sum = (of: (tally: Tally) => number, some = parts): number =>
    some.reduce((total, { tally }) => total + of(tally), 0);
  return {
    open: sum(({ open }) => open),
    pending: sum(({ pending }) => pending),
    snoozed: sum(({ snoozed }) => snoozed),
    closed_today: sum(({ days }) => days[today]?.closed ?? 0),
    unassigned: sum(
      goingOn,
      parts.filter(({ assigneeId }) => assigneeId === "none"),
    ),
    unread_conversations: sum(({ unreadConversations }) => unreadConversations),
    unread_messages: sum(({ unreadMessages }) => unreadMessages),
    waiting: sum(({ waiting }) => waiting),
    oldest_waiting_since: oldest?.waiting_since?.toISOString() ?? null,
    median_first_response_seconds: medianOf(
      parts.map(({ tally }) => tally),
      today,
    ),
    by_channel: Object.fromEntries(
      [...Map.groupBy(parts, ({ channel }) => channel)].map(([channel, some]) => [channel, sum(goingOn, some)]),
    ),
    by_assignee: [...Map.groupBy(parts, ({ assigneeId }) => assigneeId)]
      .map(([id, some]) => ({
        assignee_id: id === "none" ? null : id,
        open: sum(goingOn, some),
        unread: sum(({ unreadMessages }) => unreadMessages, some),
      }))
      .toSorted((a, b) => b.open - a.open)
      .slice(0, mostAssignees),
  };
};

const goingOn = ({ open, pending, snoozed }: Tally): number => open + pending + snoozed;
