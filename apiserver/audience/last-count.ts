import type { MessageAim } from "#core/domain/segments/aim.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";

/**
 * How many subscribed subscriptions the segments of an audience had on each channel when they were counted, the first of
 * them `at`. `isBound`: at most so many are meant.
 */
export type LastCount = { byChannel: [channel: string, count: number][]; at: Date; isBound: boolean };

export type LastCountOf = (audience: Audience, aim: MessageAim) => Promise<LastCount | null>;

type Counted = Pick<SegmentRow, "_id" | "by_channel" | "counted_at">;

/**
 * Gives the last counts of the segments that an audience is chosen by, on the channels that it reaches; null where it is not
 * chosen by segments, or one has not been counted. Source: docs/reference/messages.md#estimate.
 */
export const lastCount =
  (segments: { called: (appId: string, ids: readonly string[]) => Promise<readonly Counted[]> }): LastCountOf =>
  async ({ appId, reach, testOnly }, { isEveryone, included, excluded, filter }) => {
    const ids = [...new Set(included)];
    if (isEveryone || ids.length === 0 || reach.some(({ status }) => status !== "subscribed")) return null;
    const counted = (await segments.called(appId, ids)).flatMap(countOf(ids));
    const [first] = counted.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime());
    if (first === undefined || counted.length < ids.length) return null;
    return {
      byChannel: reach.map(({ channel }) => [channel, counted.reduce((sum, { of }) => sum + (of[channel] ?? 0), 0)]),
      at: first,
      isBound: ids.length > 1 || excluded.length > 0 || filter !== null || testOnly,
    };
  };

const countOf =
  (ids: readonly string[]) =>
  ({ _id, by_channel: of, counted_at: at }: Counted): { of: Record<string, number>; at: Date }[] =>
    of === null || at === null || !ids.includes(_id) ? [] : [{ of, at }];
