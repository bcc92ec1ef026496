import type { ConversationState, ConversationStatus } from "./conversation.ts";

/** What of a conversation is counted, as it was at a change of it. */
export type Counted = {
  /** Channel and assignee, by which stats are narrowed: {@link tallyKey}. */
  key: string;
  status: ConversationStatus;
  unread: number;
  isWaiting: boolean;
  /** The day, in UTC, on which it was closed. */
  closedOn: string | null;
  /** The day on which its person was first answered, and how long that took as {@link bucketOf} has it. */
  answeredOn: string | null;
  answeredIn: number;
};

/** How many conversations of one channel and assignee are what. */
export type Tally = Record<ConversationStatus, number> & {
  unreadConversations: number;
  unreadMessages: number;
  waiting: number;
  /** Of the last two days: how many were closed, and how many first answers took how long. */
  days: Record<string, { closed: number; answered: Record<string, number> }>;
};

export type Tallies = Record<string, Tally>;

export type Countable = Pick<
  ConversationState,
  "status" | "unread_count" | "waiting_since" | "closed_at" | "first_response_at"
> & { channel: string; assignee_id: string; first_response_ms?: number | null };

export const tallyKey = (channel: string, assigneeId: string): string =>
  `${channel} ${Buffer.from(assigneeId).toString("base64url")}`; // no dots and dollars: it is a member's name

export const partsOfKey = (key: string): { channel: string; assigneeId: string } => {
  const [channel = "", assignee = ""] = key.split(" ");
  return { channel, assigneeId: Buffer.from(assignee, "base64url").toString() };
};

export const countedOf = (row: Countable): Counted => ({
  key: tallyKey(row.channel, row.assignee_id),
  status: row.status,
  unread: row.unread_count,
  isWaiting: row.waiting_since !== null && row.status !== "closed",
  closedOn: row.status === "closed" && row.closed_at !== null ? dayOf(row.closed_at) : null,
  answeredOn: row.first_response_at === null ? null : dayOf(row.first_response_at),
  answeredIn: bucketOf(row.first_response_ms ?? 0),
});

/** The day of an instant in UTC. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const bucketsADoubling = 8; // a duration is known within 5 %

/** Durations that are counted together. */
export const bucketOf = (ms: number): number => Math.round(bucketsADoubling * Math.log2(Math.max(ms / 1_000, 0) + 1));

const secondsOf = (bucket: number): number => Math.round(2 ** (bucket / bucketsADoubling) - 1);

/** One change of what is counted: null before is a new conversation, null after one that is gone. */
export type Recount = { before: Counted | null; after: Counted | null };

/** Tallies after changes; days before `since` are left out. Nobody's are left out. */
export const recounted = (tallies: Tallies, changes: readonly Recount[], since: string): Tallies => {
  const after: Tallies = structuredClone(tallies);
  for (const change of changes) {
    if (change.before !== null) add(after, change.before, -1, since);
    if (change.after !== null) add(after, change.after, 1, since);
  }
  return Object.fromEntries(
    Object.entries(after).flatMap(([key, tally]) => {
      const days = Object.entries(tally.days).filter(([day]) => day >= since);
      const isEmpty = tally.open + tally.pending + tally.snoozed + tally.closed === 0 && days.length === 0;
      return isEmpty ? [] : [[key, { ...tally, days: Object.fromEntries(days) }]];
    }),
  );
};

const add = (tallies: Tallies, counted: Counted, by: 1 | -1, since: string): void => {
  const tally = (tallies[counted.key] ??= emptyTally());
  tally[counted.status] += by;
  tally.unreadMessages += by * counted.unread;
  if (counted.unread > 0) tally.unreadConversations += by;
  if (counted.isWaiting) tally.waiting += by;
  if (counted.closedOn !== null && counted.closedOn >= since) dayIn(tally, counted.closedOn).closed += by;
  if (counted.answeredOn === null || counted.answeredOn < since) return;
  const { answered } = dayIn(tally, counted.answeredOn);
  answered[counted.answeredIn] = (answered[counted.answeredIn] ?? 0) + by;
};

export const emptyTally = (): Tally => ({
  open: 0,
  pending: 0,
  snoozed: 0,
  closed: 0,
  unreadConversations: 0,
  unreadMessages: 0,
  waiting: 0,
  days: {},
});

const dayIn = (tally: Tally, day: string) => (tally.days[day] ??= { closed: 0, answered: {} });

/** The median of first answers that were given on a day, in seconds; null when there were none. */
export const medianOf = (tallies: readonly Tally[], day: string): number | null => {
  const buckets = new Map<number, number>();
  for (const { days } of tallies)
    for (const [bucket, count] of Object.entries(days[day]?.answered ?? {}))
      buckets.set(Number(bucket), (buckets.get(Number(bucket)) ?? 0) + count);
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of [...buckets].toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below * 2 >= total && count > 0) return secondsOf(bucket);
  }
  return null;
};
